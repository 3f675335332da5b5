# SPDX-License-Identifier: Apache-2.0
"""Delivery of the outbox: claims events, calls the app's handler, acknowledges."""

from __future__ import annotations

import inspect
import logging
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional, Set

from cairn import errors
from cairn._held import Bell
from cairn._rows import OutboxEvent

if TYPE_CHECKING:
    from cairn._worker import Worker

_log = logging.getLogger("cairn.worker")
_LOOK = 1.0  # seconds between two claims that brought nothing
_MOST = 100


class Outbox:
    """Delivers events in order within each instance, at least once."""

    def __init__(self, worker: "Worker", handler: Callable[[OutboxEvent], Any]) -> None:
        self._worker = worker
        self._handler = handler
        self._bell = Bell()
        self._is_over = False
        self._thread: Optional[threading.Thread] = None
        self.need_loop: Callable[[], Any] = lambda: None

    def start(self) -> None:
        """Delivers in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name=f"{self._worker.name}-outbox", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends after the event that is being delivered."""
        self._is_over = True
        self._bell.ring()
        if self._thread is not None:
            self._thread.join()

    def drain(self) -> int:
        """Delivers what there is; answers how many events were delivered."""
        total = 0
        while not self._is_over:
            count = self._deliver()
            if count == 0:
                break
            total += count
        return total

    def _run(self) -> None:
        while not self._is_over:
            try:
                self.drain()
            except errors.CairnError as error:
                if error.code == "closed":
                    return
                _log.warning("the outbox cannot be read: %s", error.message)
            self._bell.wait(_LOOK)

    def _deliver(self) -> int:
        worker = self._worker
        failed: Set[str] = set()
        count = 0
        for event in worker.engine.outbox_claim(worker.name, max=_MOST, lease=worker.lease_ms / 1000):
            if event.instance_id in failed or self._is_over:
                continue  # in order: it comes again with the one before it
            try:
                self._call(event)
                worker.engine.outbox_ack(event)
                count += 1
            except Exception as error:
                failed.add(event.instance_id)
                _log.warning("event %s of instance %s was not delivered: %s", event.event, event.instance_id, error,
                             exc_info=error)
        return count

    def _call(self, event: OutboxEvent) -> None:
        answer = self._handler(event)
        if not inspect.isawaitable(answer):
            return
        import asyncio

        async def wait() -> None:
            await answer

        asyncio.run_coroutine_threadsafe(wait(), self.need_loop()).result()
