# SPDX-License-Identifier: Apache-2.0
"""The runs of durable functions: begun with a task, ended with a commit."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, List, Optional

from cairn import _abi, errors
from cairn._call import fail_of, release_of
from cairn._context import Frame
from cairn._errors import text_of
from cairn._ffi import Claim
from cairn._function import AsyncContext, Context
from cairn._held import Held
from cairn._loops import is_cancellation
from cairn._passage import NUMBER_OF_CODE, OK, STEP_FAILED, SUSPENDED, Passage, RunEnded
from cairn._task import enter_task
from cairn._tell import label, tell_failure
from cairn._types import FunctionType

if TYPE_CHECKING:
    from cairn._worker import Worker


def check_function(function: FunctionType[Any, Any]) -> None:
    """Before a worker runs it."""
    signature = function.signature
    count = len(signature.parameters)
    if count not in (1, 2):
        raise errors.Misuse(f"{signature.name}() takes {count} arguments; a function takes (ctx) or (ctx, input)")
    if count == 2:
        signature.type_of(1)


def _arguments(held: Held, frame: Frame) -> List[Any]:
    assert held.function is not None
    signature = held.function.signature
    if len(signature.parameters) == 1:
        return [frame]
    return [frame, frame.decode(held.raw.input, signature.type_of(1))]


def _open(worker: "Worker", held: Held) -> Passage:
    assert held.function is not None
    try:
        return Passage(worker.engine.native, worker.name.encode(), held.raw, held.function.commit, worker.lease_ms)
    finally:
        held.drop_page()


def run_function(worker: "Worker", held: Held) -> None:
    """One run of a sync function, and its end."""
    assert held.function is not None
    passage = _open(worker, held)
    enter_task(held.task)
    frame = Context(passage, held.task, worker.engine.codec, held.raw.version, worker.state)
    value, error = None, None
    try:
        arguments = _arguments(held, frame)
        with contextlib.ExitStack() as stack:
            for around in worker.app.arounds:
                stack.enter_context(around(held.task))
            value = held.function.fn(*arguments)
        passage.set_output(frame.codec.encode(value).encode())
    except BaseException as raised:
        error = raised
    misuse = frame.end_run()
    if misuse is not None and held.task.stop is None:
        frame.wait_idle(worker.lease_ms / 1000)
        error = misuse
    _end(worker, held, passage, error)


async def run_function_async(worker: "Worker", held: Held) -> None:
    """One run of an async function, and its end."""
    assert held.function is not None
    passage = _open(worker, held)
    enter_task(held.task)
    frame = AsyncContext(passage, held.task, worker.engine.codec, held.raw.version, worker.state)
    value, error = None, None
    try:
        arguments = _arguments(held, frame)
        with contextlib.ExitStack() as stack:
            for around in worker.app.arounds:
                stack.enter_context(around(held.task))
            value = await held.function.fn(*arguments)
        passage.set_output(frame.codec.encode(value).encode())
    except BaseException as raised:
        error = raised
    try:
        error = await _end_calls(worker, held, frame) or error
    except BaseException as raised:
        error = raised
    await worker.engine.aio.run(lambda: _end(worker, held, passage, error))


async def _end_calls(worker: "Worker", held: Held, frame: AsyncContext) -> Optional[BaseException]:
    """Waits for a call that the function has left behind, but no longer than its lease; what to fail with."""
    import asyncio

    loop = asyncio.get_running_loop()
    is_idle = asyncio.Event()
    misuse = frame.end_run(lambda: loop.call_soon_threadsafe(is_idle.set))
    if misuse is None or held.task.stop is not None:
        return None
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(is_idle.wait(), worker.lease_ms / 1000)
    return misuse


def _end(worker: "Worker", held: Held, passage: Passage, error: Optional[BaseException]) -> None:
    is_stop = isinstance(error, errors.Stopped) or (error is not None and is_cancellation(error))
    if is_stop and (held.task.stop or "shutdown") == "shutdown":
        _release(worker, held, passage)
        return
    code = _code_of(passage, error)
    has_failed = error is not None and not isinstance(error, errors.Suspended)
    text = None
    if has_failed and error is not None and error is not passage.failure:
        text = fail_of(held.raw, _abi.CAIRN_FAIL, text_of(error)).error or b""
    failed = passage.end(code, text)
    if failed is not None:
        held.error = failed
        held.task.log.warning("the end of %s could not be committed: %s", label(held.task), failed.message)
    elif has_failed and error is not None and not is_stop:
        tell_failure(held.task, _reason(error), True, error)


def _reason(error: BaseException) -> str:
    if isinstance(error, errors.StepFailed) and error.key:
        return f"step {error.key}: {error.error}"
    return text_of(error)


def _code_of(passage: Passage, error: Optional[BaseException]) -> int:
    """What the run ends with."""
    if error is None:
        return OK
    if isinstance(error, RunEnded):
        return NUMBER_OF_CODE.get(error.error.code, STEP_FAILED)
    if isinstance(error, errors.Suspended):
        return SUSPENDED
    if error is passage.failure and isinstance(error, errors.CairnError):
        return NUMBER_OF_CODE.get(error.code, STEP_FAILED)  # passed on: the engine knows its step and its text
    return STEP_FAILED


def _release(worker: "Worker", held: Held, passage: Passage) -> None:
    """The worker ends: another one goes on from what is committed.  The lease ends before the run does, so that
    the run's own end is refused and says nothing."""
    name = worker.name.encode()
    try:
        worker.engine.native.report(name, [release_of(held.raw)], Claim(worker.name, [], [], None, 1), 0)
    except errors.CairnError as error:
        held.task.log.warning("%s could not be released: %s", label(held.task), error.message)
        return
    passage.end(SUSPENDED)
