# SPDX-License-Identifier: Apache-2.0
"""The thread that keeps leases and hears of stops.  No handler can block it."""

from __future__ import annotations

import logging
import threading
import time
from typing import Callable, List, Optional, Set, Tuple

from cairn import errors
from cairn._ffi import Native
from cairn._held import Bell, Held

_log = logging.getLogger("cairn.worker")
_LEAST = 0.005  # seconds between two heartbeats of a task
_AGAIN = 0.05  # after a heartbeat that could not be sent


class Keeper:
    """Extends each lease at a third of its length, and asks every `look` whether the task is still wanted."""

    def __init__(self, native: Native, worker: bytes, lease_ms: int, look: float, max_batch: int, held: Set[Held],
                 interrupt: Callable[[Held, str], None]) -> None:
        self._native = native
        self._worker = worker
        self._lease_ms = lease_ms
        self._third = max(_LEAST, lease_ms / 3000)
        self._look = max(_LEAST, look)
        self._max_batch = max_batch
        self._held = held
        self._interrupt = interrupt
        self._bell = Bell()
        self._is_over = False
        self._sleeps = False
        self._thread = threading.Thread(target=self._run, name=f"{worker.decode()}-keeper", daemon=True)

    def start(self) -> None:
        """Begins to keep leases."""
        self._thread.start()

    def stop(self) -> None:
        """Ends it, and waits for that."""
        self._is_over = True
        self._bell.ring()
        self._thread.join()

    def keep(self, held: Held) -> None:
        """From now on: a task that was just claimed.  The caller has put it into the set."""
        now = time.monotonic()
        held.lease_until = now + self._lease_ms / 1000
        held.beat_at = now + self._third
        held.look_at = now + self._look

    def begin(self) -> None:
        """After tasks were claimed."""
        if self._sleeps:
            self._bell.ring()

    def _run(self) -> None:
        while not self._is_over:
            next_at = self._round()
            if next_at is None:
                self._sleeps = True  # from now on begin() rings: one more look, so that no task is missed
                next_at = self._round()
            self._bell.wait(None if next_at is None else next_at - time.monotonic())
            self._sleeps = False

    def _round(self) -> Optional[float]:
        """Sends what is due; answers when the next is, or None if nothing is held."""
        now = time.monotonic()
        due: List[Tuple[Held, int]] = []
        next_at: Optional[float] = None
        for held in list(self._held):
            if held.is_over or held.task.stop is not None:
                continue
            if held.beat_at <= now:
                due.append((held, self._lease_ms))
            elif held.look_at <= now:
                due.append((held, 0))
            else:
                at = min(held.beat_at, held.look_at)
                next_at = at if next_at is None else min(next_at, at)
        for begin in range(0, len(due), self._max_batch):
            self._send(due[begin:begin + self._max_batch])
        if due:
            later = min(min(held.beat_at, held.look_at) for held, _ in due)
            next_at = later if next_at is None else min(next_at, later)
        return next_at

    def _send(self, due: List[Tuple[Held, int]]) -> None:
        begun = time.monotonic()
        try:
            answers = self._native.heartbeat(self._worker, [(held.raw.id, held.raw.token, ms) for held, ms in due])
        except errors.CairnError as error:
            for held, _ in due:
                self._unsent(held, error.code)
            return
        for (held, ms), (code, stop) in zip(due, answers):
            if code is not None:
                self._unsent(held, code)
            elif stop is not None and stop != "paused":  # what runs may finish during a pause
                _log.info("%s is to stop: %s", held.task, stop)
                self._interrupt(held, stop)
            else:
                held.look_at = begun + self._look
                if ms:
                    held.lease_until = begun + ms / 1000
                    held.beat_at = begun + self._third

    def _unsent(self, held: Held, code: str) -> None:
        now = time.monotonic()
        known = errors.BY_CODE.get(code)
        is_retryable = known is not None and known.is_retryable and code != "closed"
        if is_retryable and now < held.lease_until:
            held.look_at = now + max(_AGAIN, self._look)
            held.beat_at = now + _AGAIN
            return
        _log.warning("the lease of %s is lost (%s)", held.task, code)
        self._interrupt(held, "lease_lost")
