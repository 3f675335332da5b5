# SPDX-License-Identifier: Apache-2.0
"""Where handlers run: threads for sync ones, one event loop for async ones, both counted together."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, List, Optional

from cairn._call import release_of, report_of
from cairn._held import Held
from cairn._loops import is_cancellation

if TYPE_CHECKING:
    import asyncio

    from cairn._app import Around


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self, name: str) -> None:
        import asyncio

        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import asyncio

        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            if left:
                self.loop.run_until_complete(asyncio.wait(left, timeout=1))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def stop(self) -> None:
        """Ends the loop; what still runs on it is cancelled."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join(5)


class Pool:
    """Runs at most `concurrency` handlers; the others are ready and wait."""

    def __init__(self, name: str, concurrency: int, arounds: "List[Around]",
                 run_function: Callable[[Held], None], run_function_async: Callable[[Held], Any],
                 finished: Callable[[Held], None]) -> None:
        self._name = name
        self._concurrency = concurrency
        self._arounds = arounds
        self._run_function = run_function
        self._run_function_async = run_function_async
        self._finished = finished
        self._lock = threading.Lock()
        self._ready: Deque[Held] = deque()
        self._running = 0
        self._idle_threads = 0
        self._threads: List[threading.Thread] = []
        self._work: "queue.SimpleQueue[Optional[Held]]" = queue.SimpleQueue()
        self._own_loop: Optional[LoopThread] = None
        self.loop: "Optional[asyncio.AbstractEventLoop]" = None

    # ---- giving it work

    def add(self, tasks: List[Held]) -> None:
        """Tasks to be executed in this order."""
        begin: List[Held] = []
        with self._lock:
            self._ready.extend(tasks)
            while self._ready and self._running < self._concurrency:
                begin.append(self._ready.popleft())
                self._running += 1
        for held in begin:
            self._begin(held)

    def take_ready(self) -> List[Held]:
        """Those that have not begun; they are the caller's from then on."""
        with self._lock:
            left = list(self._ready)
            self._ready.clear()
        return left

    def need_loop(self) -> "asyncio.AbstractEventLoop":
        """The loop of async handlers: the caller's, or one in a thread."""
        if self.loop is None:
            self._own_loop = LoopThread(f"{self._name}-loop")
            self.loop = self._own_loop.loop
        return self.loop

    def interrupt(self, held: Held, reason: str) -> None:
        """Tells a handler to end; a coroutine is cancelled."""
        held.task.set_stop(reason)
        future = held.future
        if future is not None and self.loop is not None:
            try:
                self.loop.call_soon_threadsafe(future.cancel)
            except RuntimeError:
                pass  # the loop is closed: nothing of it runs any more

    def stop(self) -> None:
        """Ends idle threads and its own loop.  A thread whose handler does not end is left behind."""
        with self._lock:
            threads = list(self._threads)
        for _ in threads:
            self._work.put(None)
        if self._own_loop is not None:
            self._own_loop.stop()

    def owns(self, thread: threading.Thread) -> bool:
        """Whether it is one of the threads that run handlers."""
        return thread in self._threads

    # ---- running

    def _begin(self, held: Held) -> None:
        held.is_begun = True
        if held.is_async:
            self._begin_async(held)
        else:
            self._begin_sync(held)

    def _begin_sync(self, held: Held) -> None:
        with self._lock:
            is_idle = self._idle_threads > 0
            if is_idle:
                self._idle_threads -= 1
        self._work.put(held)
        if not is_idle:
            thread = threading.Thread(target=self._thread_main, name=f"{self._name}-{len(self._threads) + 1}",
                                      daemon=True)
            self._threads.append(thread)
            thread.start()

    def _begin_async(self, held: Held) -> None:
        loop = self.need_loop()
        try:
            loop.call_soon_threadsafe(self._start_coroutine, held)
        except RuntimeError:  # the caller's loop is closed
            held.drop_page()
            held.report = release_of(held.raw)
            self._end(held)

    def _start_coroutine(self, held: Held) -> None:
        assert self.loop is not None
        held.future = self.loop.create_task(self._run_async(held))

    def _thread_main(self) -> None:
        held = self._work.get()
        while held is not None:
            following: Optional[Held] = held
            while following is not None:
                self._run_sync(following)
                following = self._end(following, wants_sync=True)
            with self._lock:
                self._idle_threads += 1
            held = self._work.get()

    def _run_sync(self, held: Held) -> None:
        context = contextvars.copy_context()
        try:
            if held.task.stop is not None:
                held.drop_page()
                held.report = release_of(held.raw)
            elif held.bound is not None:
                held.report = context.run(held.bound.call, held.task, self._arounds)
            else:
                context.run(self._run_function, held)
        except BaseException as error:  # a fault of this package must not lose the task
            held.report = report_of(held.task, error, ())

    async def _run_async(self, held: Held) -> None:
        try:
            if held.task.stop is not None:
                held.drop_page()
                held.report = release_of(held.raw)
            elif held.bound is not None:
                held.report = await held.bound.call_async(held.task, self._arounds)
            else:
                await self._run_function_async(held)
        except BaseException as error:
            if is_cancellation(error) and held.task.stop is None:
                held.task.set_stop("shutdown")  # the caller's loop ends
            held.report = report_of(held.task, error, ())
        self._end(held)

    def _end(self, held: Held, wants_sync: bool = False) -> Optional[Held]:
        """Hands in the outcome, and begins the next; answers one that the calling thread is to execute."""
        following: Optional[Held] = None
        with self._lock:
            self._running -= 1
            if self._ready and self._running < self._concurrency:
                following = self._ready.popleft()
                self._running += 1
        self._finished(held)
        if following is None:
            return None
        if wants_sync and not following.is_async:
            following.is_begun = True
            return following
        self._begin(following)
        return None


__all__ = ["LoopThread", "Pool"]
