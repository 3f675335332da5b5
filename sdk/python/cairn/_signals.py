# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM while a worker runs in the main thread.

Python's handlers run when the main thread executes Python code.  If the kernel interrupts another thread, or the main
one just before it blocks, nothing would wake it.  So the interpreter itself writes the number of each signal to a
pipe, at once and in any thread, and the main thread waits at its other end; the handlers have nothing to do.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from cairn._worker import Worker

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ENDED = b"\xff"  # no signal has this number


class Signals:
    """Waits for the end of a worker; the first signal stops it, the second ends its grace."""

    def __init__(self, worker: "Worker") -> None:
        self._worker = worker
        self._before: Dict[int, Any] = {}
        self._wakeup_before = -1
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._lock = threading.Lock()
        self._is_closed = False

    @staticmethod
    def are_possible() -> bool:
        """Only the main thread is given signals."""
        return threading.current_thread() is threading.main_thread()

    def __enter__(self) -> "Signals":
        self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._caught)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._wakeup_before)
        with self._lock:
            self._is_closed = True
            os.close(self._reader)
            os.close(self._writer)

    def _caught(self, number: int, frame: Optional[FrameType]) -> None:
        pass  # it is in the pipe

    def ended(self) -> None:
        """Called by the worker."""
        with self._lock:
            if not self._is_closed:
                try:
                    os.write(self._writer, _ENDED)
                except BlockingIOError:
                    pass  # full of signals; the reader looks after each of them whether the worker has ended

    def wait(self) -> None:
        """Until the worker has ended."""
        count = 0
        while True:
            select.select([self._reader], [], [])
            for byte in os.read(self._reader, 64):
                if byte == _ENDED[0]:
                    return
                if byte not in _SIGNALS:
                    continue  # of another handler of the program
                count += 1
                if count == 1:
                    self._worker.ask_stop()
                else:
                    self._worker.ask_stop(0)
            if self._worker.has_ended:
                return
