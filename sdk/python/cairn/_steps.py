# SPDX-License-Identifier: Apache-2.0
"""The execution of a function's steps."""

from __future__ import annotations

import contextvars
from typing import Any, List, NamedTuple, Optional, Tuple

from cairn import errors
from cairn._context import Frame, StepCall, result_of
from cairn._errors import text_of
from cairn._loops import is_cancellation
from cairn._task import Task, enter_task
from cairn._tell import tell_failure
from cairn._words import Duration, to_ms

# The outcomes of a step, as in cairn.h.
COMPLETE, FAIL, RETRY, DEAD = 1, 2, 3, 4


class StepTask(Task):
    """The task of a step: it is stopped when the function's own task is."""

    __slots__ = ("_parent",)

    def __init__(self, parent: Task, raw: Any, codec: Any) -> None:
        super().__init__(raw, parent.worker, parent.state, parent.db, codec)
        self._parent = parent

    @property
    def function(self) -> Optional[str]:
        """The function whose step it is."""
        return self._parent.type

    @property
    def stop(self) -> Optional[str]:
        """Why the step should end; None: go on."""
        return self._parent.stop

    def check(self) -> None:
        """Raises Stopped if ``stop`` is set."""
        self._parent.check()

    def wait(self, seconds: Duration) -> Optional[str]:
        """Sleeps so long, or until the function is stopped."""
        return self._parent.wait(seconds)


class StepEnd(NamedTuple):
    """How the code of a step has ended."""

    outcome: int
    text: bytes  # the output, or the error
    delay_ms: int = -1
    outbound: List[Tuple[bytes, bytes]] = []
    cause: Optional[BaseException] = None
    task: Optional[StepTask] = None  # of code that has completed


def check_shutdown(frame: Frame) -> None:
    """Before a step is executed: the worker ends, and another one executes it."""
    if frame.task.stop == "shutdown":
        raise errors.Stopped("shutdown")


def _completed(frame: Frame, task: StepTask, value: Any) -> StepEnd:
    return StepEnd(COMPLETE, frame.codec.encode(value).encode(), outbound=task.outbound, task=task)


def _bytes(text: str) -> bytes:
    return text.replace("\0", "\\0").encode(errors="backslashreplace")


def _failed(call: StepCall[Any], task: StepTask, error: BaseException) -> StepEnd:
    if isinstance(error, errors.Stopped) or (is_cancellation(error) and task.stop is not None):
        raise error
    if isinstance(error, errors.Retry):
        try:
            delay_ms = -1 if error.after is None else to_ms(error.after)
            tell_failure(task, error.error, False, error.__cause__)
            return StepEnd(RETRY, _bytes(error.error), delay_ms, cause=error)
        except (ValueError, TypeError) as wrong:
            error = wrong
    if isinstance(error, errors.Dead):
        tell_failure(task, error.error, True, error.__cause__)
        return StepEnd(DEAD, _bytes(error.error), cause=error)
    if isinstance(error, (errors.Release, errors.WaitFor)):
        error = errors.Misuse(f"the code of a function's step cannot raise {type(error).__name__}")
    is_dead = isinstance(error, call.dead_on)
    tell_failure(task, text_of(error), is_dead, error)
    return StepEnd(DEAD if is_dead else FAIL, _bytes(text_of(error)), cause=error)


def execute(frame: Frame, call: StepCall[Any], work: int) -> StepEnd:
    """Calls the code of a step.  Only a stop comes out of it."""
    task = StepTask(frame.task, frame.passage.step_task(work), frame.codec)

    def run() -> StepEnd:
        enter_task(task)
        try:
            return _completed(frame, task, call.fn(*call.args))
        except BaseException as error:
            return _failed(call, task, error)

    return contextvars.copy_context().run(run)


async def execute_async(frame: Frame, call: StepCall[Any], work: int) -> StepEnd:
    """The same for code that may be async; in a task of its own, so that its context is.

    If its caller gives it up, CancelledError comes out of it, unless the code has completed all the same.
    """
    import asyncio
    import inspect

    task = StepTask(frame.task, frame.passage.step_task(work), frame.codec)
    is_given_up = False

    async def run() -> StepEnd:
        enter_task(task)
        try:
            value = call.fn(*call.args)
            if inspect.isawaitable(value):
                value = await value
            return _completed(frame, task, value)
        except BaseException as error:
            if is_given_up:
                raise asyncio.CancelledError() from error
            return _failed(call, task, error)

    inner = asyncio.ensure_future(run())
    while not inner.done():
        try:
            await asyncio.wait([inner])
        except asyncio.CancelledError:
            is_given_up = task.stop is None
            inner.cancel()
    return inner.result()


def finish(frame: Frame, call: StepCall[Any], work: int, end: StepEnd) -> bytes:
    """Ends the step in the passage; its output as it is remembered.  StepFailed, Suspended."""
    try:
        if end.outcome == COMPLETE:
            return frame.passage.complete_step(work, end.text, end.outbound)
        return frame.passage.fail_step(work, end.outcome, end.text, end.delay_ms)
    except errors.StepFailed as failed:
        if end.task is not None:  # what the code gave cannot be kept
            tell_failure(end.task, failed.error, True)
        else:
            failed.error = end.text.decode()
        raise failed from end.cause


def answer(frame: Frame, call: StepCall[Any], output: bytes) -> Any:
    """The decoded encoding, the first time as every other time."""
    return frame.decode(output, result_of(call.fn))


def leave(frame: Frame, work: int) -> None:
    """A step whose code has not ended by itself.

    If the instance is not wanted any more, the step has failed, and the rest is still committed.  If the worker ends,
    another one executes it.  If its caller gave it up, nothing is remembered of it.
    """
    reason = frame.task.stop
    try:
        if reason is None:
            frame.passage.drop_step(work)
        elif reason != "shutdown":
            frame.passage.fail_step(work, FAIL, f"Stopped: {reason}".encode(), -1)
    except (errors.CairnError, errors.Suspended):
        pass
