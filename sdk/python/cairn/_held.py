# SPDX-License-Identifier: Apache-2.0
"""What the parts of a worker share: a task in its hands, and a bell."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional

from cairn._ffi import RawTask, Report
from cairn._task import Task

if TYPE_CHECKING:
    from cairn._call import Bound
    from cairn._types import FunctionType


class Held:
    """A task that the worker has claimed, from the claim to the end of its report."""

    __slots__ = ("raw", "task", "bound", "function", "lease_until", "place", "is_begun", "is_over",
                 "is_alone", "is_refused", "future", "report", "error")

    def __init__(self, raw: RawTask, task: Task, bound: "Optional[Bound]",
                 function: "Optional[FunctionType[Any, Any]]") -> None:
        self.raw = raw
        self.task = task
        self.bound = bound
        self.function = function
        self.lease_until = 0.0
        self.place = -1  # with the keeper
        self.is_begun = False
        self.is_over = False  # what its handler says from now on is not wanted
        self.is_alone = False  # reported by itself, since a batch was refused
        self.is_refused = False
        self.future: Any = None  # of an async handler
        self.report: Optional[Report] = None  # None at the end: a function has ended its task itself
        self.error: Optional[BaseException] = None  # that ends the worker, too

    @property
    def is_async(self) -> bool:
        """Whether it runs on the loop."""
        if self.bound is not None:
            return self.bound.is_async
        return self.function is not None and self.function.signature.is_async

    def drop_page(self) -> None:
        """Of a function: its memory is not needed any more."""
        if self.raw.page is not None:
            self.raw.page.drop()
            self.raw.page = None


class Bell:
    """A flag that one thread waits for and others set; cheaper than threading.Event."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        """Ends the wait under way, or the next one."""
        try:
            self._lock.release()
        except RuntimeError:
            pass  # it rings already

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Until it rings: True, or until the time is over: False."""
        if timeout is None:
            return self._lock.acquire()
        return self._lock.acquire(timeout=max(0.0, min(timeout, threading.TIMEOUT_MAX)))
