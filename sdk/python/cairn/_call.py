# SPDX-License-Identifier: Apache-2.0
"""How a handler is called, and what its end means."""

from __future__ import annotations

import contextlib
import typing
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from cairn import _abi, errors
from cairn._errors import text_of
from cairn._ffi import RawTask, Report
from cairn._loops import is_cancellation
from cairn._rows import decode_value
from cairn._task import Task, enter_task
from cairn._tell import tell_failure
from cairn._types import Signature, TaskType, Undo
from cairn._words import read_json, to_ms

if TYPE_CHECKING:
    from cairn._codec import Codec
    from cairn._held import Held


def decode_payload(codec: "Codec", raw: RawTask, type: Any) -> Any:
    """The payload of a task as an annotation says; a compensation's is an Undo or a dict."""
    is_undo = type is Undo or typing.get_origin(type) is Undo
    if not is_undo and raw.kind != "compensation":
        return codec.decode(raw.input.decode(), type)
    given = read_json(raw.input)
    if not isinstance(given, dict) or not {"input", "output"} <= set(typing.cast(Dict[str, Any], given)):
        raise errors.BadPayload(f"a compensation gets input and output; this task is a {raw.kind}")
    taken = typing.cast(Dict[str, Any], given)
    kinds = (typing.get_args(type) or (Any, Any)) if is_undo else (Any, Any)
    input = decode_value(codec, taken["input"], kinds[0])
    output = None if taken["output"] is None else decode_value(codec, taken["output"], kinds[1])
    return Undo(input, output) if is_undo else {"input": input, "output": output}


class Bound:
    """A handler, ready to be called with tasks."""

    def __init__(self, task_type: TaskType[Any, Any], codec: "Codec") -> None:
        signature: Signature = task_type.signature
        count = len(signature.parameters)
        if count > 2:
            raise errors.Misuse(f"{signature.name}() takes {count} arguments; a handler takes (), (payload) or "
                                "(task, payload)")
        self.fn = task_type.fn
        self.dead_on = task_type.dead_on
        self.is_async = signature.is_async
        self._codec = codec
        self._wants_task = count == 2 or (count == 1 and signature.type_of(0) is Task)
        self._wants_payload = count == 2 or (count == 1 and not self._wants_task)
        self._type = signature.type_of(count - 1) if self._wants_payload else Any

    def arguments(self, task: Task) -> Tuple[Any, ...]:
        """What the handler is called with.  Dead: the payload or the signal does not fit, and no later call would
        find another one."""
        try:
            if task.raw.signal:
                _ = task.signal
            if not self._wants_payload:
                return (task,) if self._wants_task else ()
            payload = decode_payload(self._codec, task.raw, self._type)
        except errors.BadPayload as error:
            raise errors.Dead(error) from None
        return (task, payload) if self._wants_task else (payload,)

    def complete(self, task: Task, value: Any) -> Report:
        """The report of a result."""
        raw = task.raw
        report = Report(raw.id, raw.token, _abi.CAIRN_COMPLETE, self._codec.encode(value).encode())
        report.outbound = task.outbound
        return report

    def call(self, task: Task, arounds: "List[Callable[[Task], Any]]") -> Report:
        """Executes a sync handler."""
        enter_task(task)
        try:
            arguments = self.arguments(task)
            if not arounds:
                return self.complete(task, self.fn(*arguments))
            value = None
            with contextlib.ExitStack() as stack:
                for around in arounds:
                    stack.enter_context(around(task))
                value = self.fn(*arguments)
            return self.complete(task, value)
        except BaseException as error:
            return report_of(task, error, self.dead_on)

    async def call_async(self, task: Task, arounds: "List[Callable[[Task], Any]]") -> Report:
        """Executes an async handler."""
        enter_task(task)
        try:
            arguments = self.arguments(task)
            value = None
            with contextlib.ExitStack() as stack:
                for around in arounds:
                    stack.enter_context(around(task))
                value = await self.fn(*arguments)
            return self.complete(task, value)
        except BaseException as error:
            return report_of(task, error, self.dead_on)


def release_of(raw: RawTask, delay_ms: int = -1) -> Report:
    """Gives a task back without using an attempt."""
    return Report(raw.id, raw.token, _abi.CAIRN_RELEASE, delay_ms=delay_ms)


def missing_of(raw: RawTask) -> Report:
    """Gives back a task for which there is no handler here; other workers get the chance."""
    report = release_of(raw)
    report.is_missing = raw.instance_id is not None
    if not report.is_missing:
        report.delay_ms = 5000
    return report


def fail_of(raw: RawTask, outcome: int, text: str, delay_ms: int = -1) -> Report:
    """A failed attempt."""
    # A text that is not Unicode, or that holds a NUL, must not lose the outcome.
    clean = text.replace("\0", "\\0").encode(errors="backslashreplace")
    return Report(raw.id, raw.token, outcome, error=clean, delay_ms=delay_ms)


def report_of(task: Task, error: BaseException, dead_on: Tuple[type, ...]) -> Report:
    """What an exception of a handler is reported as."""
    raw = task.raw
    if isinstance(error, errors.Stopped) or (is_cancellation(error) and task.stop is not None):
        return release_of(raw)
    if isinstance(error, errors.Outcome):
        try:
            return _outcome_of(task, error)
        except Exception as wrong:  # such as a delay that is no duration
            error = wrong
    is_dead = isinstance(error, dead_on)
    tell_failure(task, text_of(error), is_dead, error)
    return fail_of(raw, _abi.CAIRN_DEAD if is_dead else _abi.CAIRN_FAIL, text_of(error))


def _outcome_of(task: Task, outcome: errors.Outcome) -> Report:
    raw = task.raw
    if isinstance(outcome, errors.Retry):
        after = -1 if outcome.after is None else to_ms(outcome.after)
        tell_failure(task, outcome.error, False, outcome.__cause__)
        return fail_of(raw, _abi.CAIRN_RETRY, outcome.error, after)
    if isinstance(outcome, errors.Dead):
        tell_failure(task, outcome.error, True, outcome.__cause__)
        return fail_of(raw, _abi.CAIRN_DEAD, outcome.error)
    if isinstance(outcome, errors.Release):
        return release_of(raw, to_ms(outcome.after))
    if isinstance(outcome, errors.WaitFor) and raw.kind == "step":
        report = Report(raw.id, raw.token, _abi.CAIRN_WAIT)
        report.event = outcome.event.encode()
        report.timeout_ms = -1 if outcome.timeout is None else to_ms(outcome.timeout)
        report.outbound = task.outbound
        return report
    raise errors.Misuse(f"only steps can wait for events; this task is a {raw.kind}"
                        if isinstance(outcome, errors.WaitFor) else f"{type(outcome).__name__} is no outcome")


def refused(held: "Held", report: Report, why: errors.CairnError) -> Optional[Report]:
    """What to send in place of an outcome that the engine refuses; None: nothing can be said."""
    if held.is_refused:
        return None
    held.is_refused = True
    text = f"the outcome was refused: {why.message}"
    tell_failure(held.task, text, False)
    return fail_of(held.raw, _abi.CAIRN_FAIL, text)
