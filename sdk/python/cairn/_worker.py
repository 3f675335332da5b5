# SPDX-License-Identifier: Apache-2.0
"""Workers: an app's handlers and an engine, together."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, NoReturn, Optional, Union

from cairn import errors
from cairn._call import Bound
from cairn._dispatch import Dispatcher, bind, may_pass
from cairn._ffi import Claim, RawTask
from cairn._held import Held
from cairn._loops import is_on_loop, refuse_on_loop
from cairn._outbox import Outbox
from cairn._run import check_function, run_function, run_function_async
from cairn._signals import Signals
from cairn._words import UNSET, Duration, Unset, to_ms, to_seconds

if TYPE_CHECKING:
    import asyncio

    from cairn._app import App
    from cairn._engine import Engine

_log = logging.getLogger("cairn.worker")
_FOREVER = float("inf")
_LOOK_UP_S = 0.5


class Worker:
    """Claims tasks, calls handlers and reports; made by ``Engine.worker()``.  It runs once.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.task("text.upper.v1")
    ... def upper(text: str) -> str:
    ...     return text.upper()
    >>> with cairn.open("memory:") as db, db.worker(app):
    ...     db.enqueue(upper, "hello").result(timeout=10)
    'HELLO'
    """

    name: str

    def __init__(self, engine: "Engine", app: "App", *, name: Optional[str], runtime: Optional[str], concurrency: int,
                 lease: Duration, look: Duration, prefetch: int, grace: Optional[Duration], state: Any) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}; it must be from 1")
        if prefetch < 0:
            raise ValueError(f"prefetch is {prefetch}; it must be from 0")
        if runtime is not None and not re.fullmatch("[a-z][a-z0-9_.-]{0,63}", runtime):
            raise ValueError(f"runtime {runtime!r} must be 1 to 64 of a-z, 0-9, _, . and -, and begin with a letter")
        self.name = name or f"{os.uname().nodename or 'host'}:{os.getpid()}:{os.urandom(4).hex()}"
        self.engine = engine
        self.app = app
        self.runtime = runtime
        self.concurrency = concurrency
        self.prefetch = prefetch
        self.lease_ms = to_ms(lease)
        self.look = to_seconds(look)
        self.state = state
        if self.lease_ms < 1:
            raise ValueError(f"lease is {lease}; it must be at least 1 ms")
        self._grace = None if grace is None else to_seconds(grace)
        self._bounds: Dict[str, Optional[Bound]] = {}
        self._lock = threading.Lock()
        self._is_started = False
        self._stop_at: Optional[float] = None  # monotonic: when the grace ends; None: nobody asked for a stop
        self._dispatcher: Optional[Dispatcher] = None
        self._outbox: Optional[Outbox] = None
        self._thread: Optional[threading.Thread] = None
        self._ended = threading.Event()
        self._on_end: Any = None
        self._ended_async: Any = None
        self._error: Optional[BaseException] = None

    # ---- running

    def run(self, *, until_idle: bool = False, signals: bool = True) -> int:
        """Works until it is stopped or, with ``until_idle``, until nothing can be claimed or is leased.

        It blocks, and answers how many tasks it executed.  In the main thread the first SIGINT or SIGTERM stops it
        and the second ends ``grace``, unless ``signals`` is False.
        """
        refuse_on_loop("Worker.run()", "await worker.arun()")
        self._claim_run()
        with Signals(self) if signals and Signals.are_possible() else _NoSignals(self) as waiting:
            self._launch(until_idle, None, waiting.ended)
            waiting.wait()
        return self._count()

    def start(self) -> None:
        """The same in threads of its own; returns at once.  No signals are touched."""
        self._claim_run()
        self._launch(False, None, None)

    def stop(self, grace: Union[None, Duration, Unset] = UNSET) -> None:
        """Claims nothing more, lets handlers finish within ``grace``, and returns when it has ended.

        It may be called more than once and from any thread.  In a handler, and in a thread that runs an event
        loop, it does not wait.
        """
        self.ask_stop(grace)
        if self._is_started and not self._is_own_thread():
            self._ended.wait()

    def __enter__(self) -> "Worker":
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc: Any, traceback: Any) -> None:
        self.stop()
        if exc is None and self._error is not None:
            raise self._error

    async def arun(self, *, until_idle: bool = False) -> int:
        """``run()`` as a coroutine: async handlers run on this loop.  Cancelling it is ``stop()``."""
        import asyncio

        self._claim_run()
        self._launch_async(asyncio.get_running_loop(), until_idle)
        try:
            await self._ended_async.wait()
        except asyncio.CancelledError:
            self.ask_stop()
            await self._ended_async.wait()
            raise
        return self._count()

    async def __aenter__(self) -> "Worker":
        import asyncio

        self._claim_run()
        self._launch_async(asyncio.get_running_loop(), False)
        return self

    async def __aexit__(self, exc_type: Any, exc: Any, traceback: Any) -> None:
        self.ask_stop()
        await self._ended_async.wait()
        if exc is None and self._error is not None:
            raise self._error

    def __reduce__(self) -> NoReturn:
        raise TypeError("a worker cannot be pickled")

    def __repr__(self) -> str:
        return f"<worker {self.name!r}>"

    # ---- stopping

    def ask_stop(self, grace: Union[None, Duration, Unset] = UNSET) -> None:
        """The first half of stop(): does not wait."""
        given = self._grace if isinstance(grace, Unset) else None if grace is None else to_seconds(grace)
        until = _FOREVER if given is None else time.monotonic() + given
        with self._lock:
            # A second stop can only shorten the grace.
            self._stop_at = until if self._stop_at is None else min(self._stop_at, until)
            dispatcher = self._dispatcher
        if dispatcher is not None:
            dispatcher.poke()

    def stop_asked(self) -> Optional[float]:
        """When the grace ends (monotonic), or None if nobody asked for a stop."""
        return self._stop_at

    @property
    def has_ended(self) -> bool:
        """Whether it ran and has ended."""
        return self._ended.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether somebody asked for a stop."""
        return self._stop_at is not None

    def _is_own_thread(self) -> bool:
        here = threading.current_thread()
        dispatcher = self._dispatcher
        return here is self._thread or is_on_loop() or (dispatcher is not None and dispatcher.pool.owns(here))

    # ---- its life

    def _claim_run(self) -> None:
        with self._lock:
            if self._is_started:
                raise errors.Misuse("a worker runs once", hint="make another one with Engine.worker()")
            if not self.app.tasks and not self.app.functions and self.app.outbox_handler is None:
                raise errors.Misuse("the app has no handlers")
            self.app.patterns()
            for pattern, task_type in self.app.tasks.items():
                self._bounds[pattern] = Bound(task_type, self.engine.codec)
            for function in self.app.functions.values():
                check_function(function)
            self._is_started = True

    def _launch(self, is_until_idle: bool, loop: "Optional[asyncio.AbstractEventLoop]", on_end: Any) -> None:
        self._on_end = on_end
        self._thread = threading.Thread(target=self._main, args=(is_until_idle, loop), name=f"{self.name}-dispatch",
                                        daemon=True)
        self._thread.start()

    def _main(self, is_until_idle: bool, loop: "Optional[asyncio.AbstractEventLoop]") -> None:
        try:
            self._live(is_until_idle, loop)
        except BaseException as error:
            self._error = error
        if self._error is not None and self._on_end is None:
            _log.error("worker %s has ended: %s", self.name, self._error)
        self._ended.set()
        if self._on_end is not None:
            self._on_end()

    def _live(self, is_until_idle: bool, loop: "Optional[asyncio.AbstractEventLoop]") -> None:
        if not self._deploy():
            return
        lifespan = None if self.state is not None or self.app.lifespan_handler is None else self.app.lifespan_handler()
        if lifespan is not None:
            self.state = next(lifespan)
        try:
            self._work(is_until_idle, loop)
        finally:
            if lifespan is not None:
                _finish(lifespan)

    def _work(self, is_until_idle: bool, loop: "Optional[asyncio.AbstractEventLoop]") -> None:
        functions = [(one.name, one.version, one.from_version) for one in self.app.functions.values()]
        patterns = self.app.patterns()
        claims = (Claim(self.name, patterns, functions, self.runtime, self.lease_ms),
                  Claim(self.name, patterns, functions, self.runtime, self.lease_ms))
        outbox = None if self.app.outbox_handler is None else Outbox(self, self.app.outbox_handler)
        self._outbox = outbox
        dispatcher = Dispatcher(self, claims, is_until_idle, None if outbox is None else outbox.drain)
        dispatcher.pool.loop = loop
        if outbox is not None:
            outbox.need_loop = dispatcher.pool.need_loop
            if not is_until_idle:
                outbox.start()
        with self._lock:
            self._dispatcher = dispatcher
        try:
            dispatcher.run()
        finally:
            if outbox is not None:
                outbox.stop()
        if dispatcher.error is not None:
            raise dispatcher.error

    def _deploy(self) -> bool:
        """Deploys the functions; False: it was stopped meanwhile."""
        for function in self.app.functions.values():
            while True:
                if self.is_stopping:
                    return False
                try:
                    self.engine.deploy_function(function)
                    break
                except errors.CairnError as error:
                    if not may_pass(error):
                        raise
                    _log.warning("the store does not answer, and is waited for: %s", error.message)
                    time.sleep(1)
        return True

    def _count(self) -> int:
        if self._error is not None:
            raise self._error
        return 0 if self._dispatcher is None else self._dispatcher.count

    def _launch_async(self, loop: "asyncio.AbstractEventLoop", is_until_idle: bool) -> None:
        import asyncio

        self._ended_async = asyncio.Event()

        def on_end() -> None:
            try:
                loop.call_soon_threadsafe(self._ended_async.set)
            except RuntimeError:
                pass  # the loop is closed: nobody waits

        self._launch(is_until_idle, loop, on_end)

    # ---- for the dispatcher

    def hold(self, raw: RawTask) -> Held:
        """A claimed task with the code that executes it."""
        return bind(self, raw, self._bounds)

    def run_function(self, held: Held) -> None:
        """Executes a passage of a sync function."""
        run_function(self, held)

    async def run_function_async(self, held: Held) -> None:
        """Executes a passage of an async function."""
        await run_function_async(self, held)


def _finish(lifespan: Iterator[Any]) -> None:
    for _ in lifespan:
        raise errors.Misuse("a lifespan yields once")


class _NoSignals:
    """Waits for the end of a worker without taking signals."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._is_ended = threading.Event()

    def __enter__(self) -> "_NoSignals":
        return self

    def __exit__(self, exc_type: Any, *exc: object) -> None:
        if exc_type is not None and not self._is_ended.is_set():  # such as KeyboardInterrupt
            self._worker.ask_stop()
            self.wait()

    def ended(self) -> None:
        """Called by the worker."""
        self._is_ended.set()

    def wait(self) -> None:
        """Until the worker has ended.

        It looks up now and then: a signal that interrupted another thread becomes a KeyboardInterrupt only when
        this one does something.
        """
        while not self._is_ended.wait(_LOOK_UP_S):
            pass
