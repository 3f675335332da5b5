# SPDX-License-Identifier: Apache-2.0
"""What the code of a durable function is given: steps, sleeps, waits and values."""

from __future__ import annotations

import contextlib
import datetime
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, Tuple, Type, TypeVar, Union, cast, overload

from cairn import errors
from cairn._context import BACKOFF, Frame, StepCall, Undoer, check_sync, moment
from cairn._gather import gather, gather_async
from cairn._steps import answer, check_shutdown, execute, execute_async, finish, leave
from cairn._types import FunctionType, TaskType, result_type
from cairn._words import UNSET, Duration, Time, to_ms, to_us
from cairn._workflow import Backoff

if TYPE_CHECKING:
    import uuid

    from typing_extensions import Unpack

    from cairn._context import A

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")


class Context(Frame):
    """What a sync function is given.  Calls are made one after the other; each has a key that names it.

    >>> import cairn
    >>> app = cairn.App()
    >>> def charge(amount: int) -> str:
    ...     return f"charged {amount}"
    >>> @app.function("buy")
    ... def buy(ctx: cairn.Context, amount: int) -> str:
    ...     receipt = ctx.step("charge", charge, amount)
    ...     ctx.sleep("10ms")
    ...     return receipt + " at version " + str(ctx.version)
    >>> with cairn.open("memory:") as db, db.worker(app):
    ...     db.start(buy, 7).result(timeout=10)
    'charged 7 at version 1'
    """

    def step(self, key: str, fn: Callable[[Unpack[A]], T], *args: Unpack[A], retries: int = 2, backoff: Backoff = BACKOFF,
             timeout: Optional[Duration] = None, compensation: Undoer = None,
             dead_on: Tuple[Type[BaseException], ...] = ()) -> T:
        """Calls ``fn(*args)`` and remembers its result, or answers what is remembered.

        An error is retried ``retries`` times, then it is StepFailed.  ``compensation`` is the type of the task
        that undoes the step if the function fails or is cancelled later.
        """
        call: StepCall[T] = StepCall(key, fn, args, retries, backoff, timeout, compensation, dead_on)
        check_sync(call)
        spec = call.spec(self.codec)
        self.enter_call(key)
        try:
            work, output = self.passage.begin_step(spec)
            if work is not None:
                check_shutdown(self)
                output = self._execute(call, work)
        finally:
            self.leave_call()
        return cast(T, answer(self, call, output))

    def _execute(self, call: StepCall[Any], work: int) -> bytes:
        try:
            end = execute(self, call, work)
        except errors.Stopped:
            leave(self, work)
            raise
        return finish(self, call, work, end)

    def sleep(self, duration: Duration, *, step: str = "sleep") -> None:
        """Suspends for so long; the worker does other things meanwhile."""
        ms = to_ms(duration)
        self._do(step, lambda: self.passage.sleep(step, ms))

    def sleep_until(self, at: Time, *, step: str = "sleep") -> None:
        """Suspends until a time."""
        at_us = to_us(at)
        self._do(step, lambda: self.passage.sleep_until(step, at_us))

    def wait_event(self, event: str, type: Type[T] = cast(Any, Any), *, timeout: Optional[Duration] = None,
                   step: Optional[str] = None) -> T:
        """Suspends until a signal of this event has come, and answers its payload.  TimedOut."""
        timeout_ms = -1 if timeout is None else to_ms(timeout)
        payload = self._do(step or event, lambda: self.passage.wait_event(step, event, timeout_ms))
        return cast(T, self.decode(payload, type))

    def now(self) -> datetime.datetime:
        """The store's time; the same in every run."""
        return moment(self._do("now", self.passage.now))

    def random(self) -> float:
        """From 0 up to but not including 1; the same in every run."""
        return self._do("random", self.passage.random)

    def uuid(self) -> uuid.UUID:
        """A UUID; the same in every run."""
        from uuid import UUID

        return UUID(self._do("uuid", self.passage.uuid))

    @overload
    def enqueue(self, task: str, payload: Any = ..., *, step: Optional[str] = ..., key: Optional[str] = ...,
                priority: int = ..., max_attempts: int = ..., at: Optional[Time] = ...) -> str: ...

    @overload
    def enqueue(self, task: TaskType[P, Any], payload: P = ..., *, step: Optional[str] = ...,
                key: Optional[str] = ..., priority: int = ..., max_attempts: int = ...,
                at: Optional[Time] = ...) -> str: ...

    def enqueue(self, task: Union[str, TaskType[Any, Any]], payload: Any = UNSET, *, step: Optional[str] = None,
                key: Optional[str] = None, priority: int = 100, max_attempts: int = 3,
                at: Optional[Time] = None) -> str:
        """Records a job, exactly once; its id."""
        spec = self.job(task, payload, key, priority, max_attempts, at)
        return self._do(step or str(task), lambda: self.passage.start_job(step, spec))

    @overload
    def start(self, workflow: str, input: Any = ..., *, step: Optional[str] = ..., version: int = ...,
              key: Optional[str] = ..., at: Optional[Time] = ...) -> str: ...

    @overload
    def start(self, workflow: FunctionType[P, Any], input: P = ..., *, step: Optional[str] = ..., version: int = ...,
              key: Optional[str] = ..., at: Optional[Time] = ...) -> str: ...

    def start(self, workflow: Union[str, FunctionType[Any, Any]], input: Any = UNSET, *, step: Optional[str] = None,
              version: int = 0, key: Optional[str] = None, at: Optional[Time] = None) -> str:
        """Starts an instance, exactly once; its id."""
        spec = self.instance(workflow, input, version, key, at)
        return self._do(step or str(workflow), lambda: self.passage.start_workflow(step, spec))

    @overload
    def call(self, workflow: str, input: Any = ..., *, step: Optional[str] = ...,
             timeout: Optional[Duration] = ...) -> Any: ...

    @overload
    def call(self, workflow: FunctionType[P, R], input: P = ..., *, step: Optional[str] = ...,
             timeout: Optional[Duration] = ...) -> R: ...

    def call(self, workflow: Union[str, FunctionType[Any, Any]], input: Any = UNSET, *, step: Optional[str] = None,
             timeout: Optional[Duration] = None) -> Any:
        """Starts an instance as a child and suspends until it has ended; its output.

        StepFailed if it did not complete, TimedOut if it has not ended in time.  Cancelling or aborting this
        function does the same to the child.  The child is undone with this function, at the place of the call: rolled
        back if it has completed, else cancelled.
        """
        spec = self.instance(workflow, input, 0, None, None)
        timeout_ms = -1 if timeout is None else to_ms(timeout)
        output = self._do(step or str(workflow), lambda: self.passage.call(step, spec, timeout_ms))
        return self.decode(output, result_type(workflow))

    @overload
    def gather(self, s1: StepCall[T1], /) -> Tuple[T1]: ...

    @overload
    def gather(self, s1: StepCall[T1], s2: StepCall[T2], /) -> Tuple[T1, T2]: ...

    @overload
    def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], /) -> Tuple[T1, T2, T3]: ...

    @overload
    def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], s4: StepCall[T4], /) -> Tuple[T1, T2, T3, T4]: ...

    @overload
    def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], s4: StepCall[T4], s5: StepCall[T5], /) -> Tuple[T1, T2, T3, T4, T5]: ...

    @overload
    def gather(self, *steps: StepCall[T]) -> Tuple[T, ...]: ...

    def gather(self, *steps: StepCall[Any]) -> Tuple[Any, ...]:
        """Executes steps side by side, each made by ``cairn.step()``; their results in the order written.

        Their keys are used in the order written, whichever ends first.  All end before this returns or raises.
        """
        for call in steps:
            check_sync(call)
        return gather(self, steps)

    def _do(self, name: str, call: Callable[[], T]) -> T:
        self.enter_call(name)
        try:
            return call()
        finally:
            self.leave_call()


class AsyncContext(Frame):
    """What an async function is given: the methods of Context as coroutines.

    >>> import cairn
    >>> app = cairn.App()
    >>> async def fetch(path: str) -> int:
    ...     return len(path)
    >>> @app.function("pages")
    ... async def pages(ctx: cairn.AsyncContext, path: str) -> int:
    ...     return await ctx.step("fetch", fetch, path)
    >>> with cairn.open("memory:") as db:
    ...     run = db.start(pages, "/a/b")
    ...     _ = db.work(app, until_idle=True)
    ...     run.result()
    4
    """

    async def off_loop(self, call: Callable[[], T]) -> T:
        """For the package: makes a request in a thread.  A cancellation waits for its end, since the run is not shared."""
        result, _ = await self.off_loop_whole(call)
        return result

    async def off_loop_whole(self, call: Callable[[], T]) -> Tuple[T, bool]:
        """The same, and whether its caller gave it up meanwhile.  What was done then is done: the code is told of it,
        since the next run will be, too.  Only the worker's own cancellation goes before it."""
        import asyncio

        future = asyncio.ensure_future(self.task.db.aio.run(call))
        is_given_up = False
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError:
                is_given_up = True
        if is_given_up and self.task.stop is not None:
            with contextlib.suppress(BaseException):
                future.result()
            raise asyncio.CancelledError()
        return future.result(), is_given_up

    async def _do(self, name: str, call: Callable[[], T]) -> T:
        self.enter_call(name)
        try:
            return await self.off_loop(call)
        finally:
            self.leave_call()

    @overload
    async def step(self, key: str, fn: Callable[[Unpack[A]], Awaitable[T]], *args: Unpack[A], retries: int = ...,
                   backoff: Backoff = ..., timeout: Optional[Duration] = ..., compensation: Undoer = ...,
                   dead_on: Tuple[Type[BaseException], ...] = ...) -> T: ...

    @overload
    async def step(self, key: str, fn: Callable[[Unpack[A]], T], *args: Unpack[A], retries: int = ...,
                   backoff: Backoff = ..., timeout: Optional[Duration] = ..., compensation: Undoer = ...,
                   dead_on: Tuple[Type[BaseException], ...] = ...) -> T: ...

    async def step(self, key: str, fn: Callable[..., Any], *args: Any,  # type: ignore[misc]  # it takes any arguments
                   retries: int = 2, backoff: Backoff = BACKOFF, timeout: Optional[Duration] = None, compensation: Undoer = None,
                   dead_on: Tuple[Type[BaseException], ...] = ()) -> Any:
        """Calls ``fn(*args)``, which may be async, and remembers its result; see ``Context.step``."""
        call: StepCall[Any] = StepCall(key, fn, args, retries, backoff, timeout, compensation, dead_on)
        spec = call.spec(self.codec)
        self.enter_call(key)
        try:
            (work, output), is_given_up = await self.off_loop_whole(lambda: self.passage.begin_step(spec))
            if work is not None:
                check_shutdown(self)
                output = await self._execute(call, work, is_given_up)
        finally:
            self.leave_call()
        return answer(self, call, output)

    async def _execute(self, call: StepCall[Any], work: int, is_given_up: bool) -> bytes:
        import asyncio

        try:
            if is_given_up:
                raise asyncio.CancelledError()
            end = await execute_async(self, call, work)
        except BaseException:
            leave(self, work)
            raise
        return await self.off_loop(lambda: finish(self, call, work, end))

    async def sleep(self, duration: Duration, *, step: str = "sleep") -> None:
        """Suspends for so long; the worker does other things meanwhile."""
        ms = to_ms(duration)
        await self._do(step, lambda: self.passage.sleep(step, ms))

    async def sleep_until(self, at: Time, *, step: str = "sleep") -> None:
        """Suspends until a time."""
        at_us = to_us(at)
        await self._do(step, lambda: self.passage.sleep_until(step, at_us))

    async def wait_event(self, event: str, type: Type[T] = cast(Any, Any), *, timeout: Optional[Duration] = None,
                         step: Optional[str] = None) -> T:
        """Suspends until a signal of this event has come, and answers its payload.  TimedOut."""
        timeout_ms = -1 if timeout is None else to_ms(timeout)
        payload = await self._do(step or event, lambda: self.passage.wait_event(step, event, timeout_ms))
        return cast(T, self.decode(payload, type))

    async def now(self) -> datetime.datetime:
        """The store's time; the same in every run."""
        return moment(await self._do("now", self.passage.now))

    async def random(self) -> float:
        """From 0 up to but not including 1; the same in every run."""
        return await self._do("random", self.passage.random)

    async def uuid(self) -> uuid.UUID:
        """A UUID; the same in every run."""
        from uuid import UUID

        return UUID(await self._do("uuid", self.passage.uuid))

    async def enqueue(self, task: Union[str, TaskType[P, Any]], payload: Union[P, Any] = UNSET, *,
                      step: Optional[str] = None, key: Optional[str] = None, priority: int = 100,
                      max_attempts: int = 3, at: Optional[Time] = None) -> str:
        """Records a job, exactly once; its id."""
        spec = self.job(task, payload, key, priority, max_attempts, at)
        return await self._do(step or str(task), lambda: self.passage.start_job(step, spec))

    async def start(self, workflow: Union[str, FunctionType[P, Any]], input: Union[P, Any] = UNSET, *,
                    step: Optional[str] = None, version: int = 0, key: Optional[str] = None,
                    at: Optional[Time] = None) -> str:
        """Starts an instance, exactly once; its id."""
        spec = self.instance(workflow, input, version, key, at)
        return await self._do(step or str(workflow), lambda: self.passage.start_workflow(step, spec))

    @overload
    async def call(self, workflow: str, input: Any = ..., *, step: Optional[str] = ...,
                   timeout: Optional[Duration] = ...) -> Any: ...

    @overload
    async def call(self, workflow: FunctionType[P, R], input: P = ..., *, step: Optional[str] = ...,
                   timeout: Optional[Duration] = ...) -> R: ...

    async def call(self, workflow: Union[str, FunctionType[Any, Any]], input: Any = UNSET, *,
                   step: Optional[str] = None, timeout: Optional[Duration] = None) -> Any:
        """Starts an instance as a child and suspends until it has ended; see ``Context.call``."""
        spec = self.instance(workflow, input, 0, None, None)
        timeout_ms = -1 if timeout is None else to_ms(timeout)
        output = await self._do(step or str(workflow), lambda: self.passage.call(step, spec, timeout_ms))
        return self.decode(output, result_type(workflow))

    @overload
    async def gather(self, s1: StepCall[T1], /) -> Tuple[T1]: ...

    @overload
    async def gather(self, s1: StepCall[T1], s2: StepCall[T2], /) -> Tuple[T1, T2]: ...

    @overload
    async def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], /) -> Tuple[T1, T2, T3]: ...

    @overload
    async def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], s4: StepCall[T4], /) -> Tuple[T1, T2, T3, T4]: ...

    @overload
    async def gather(self, s1: StepCall[T1], s2: StepCall[T2], s3: StepCall[T3], s4: StepCall[T4], s5: StepCall[T5], /) -> Tuple[T1, T2, T3, T4, T5]: ...

    @overload
    async def gather(self, *steps: StepCall[T]) -> Tuple[T, ...]: ...

    async def gather(self, *steps: StepCall[Any]) -> Tuple[Any, ...]:
        """Executes steps side by side, each made by ``cairn.step()``; see ``Context.gather``."""
        return await gather_async(self, steps)
