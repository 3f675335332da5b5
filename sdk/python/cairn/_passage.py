# SPDX-License-Identifier: Apache-2.0
"""One run of a function, as the library keeps it: steps in two halves, sleeps, waits, values, the end.

The rules (what is remembered, what is committed when) are the library's, which lets one call in at a time.
A thread that the function has left behind may ask for something when the run has ended: so each call holds the
run, the end lets no more in, and the last one out frees it.
"""

from __future__ import annotations

import ctypes
import re
import threading
from typing import Any, Dict, List, NoReturn, Optional, Tuple

from cairn import _abi, errors
from cairn._context import StepSpec, UndoSpec
from cairn._ffi import Native, RawTask, error_of, read_task

_REF = ctypes.byref
_ID = 40  # bytes of an id

OK = 0
NUMBER_OF_CODE = {code: number for number, code in errors.CODE_OF_NUMBER.items()}
SUSPENDED = NUMBER_OF_CODE["suspended"]
STEP_FAILED = NUMBER_OF_CODE["step_failed"]

# What the code of a function may keep; everything else ends the run.
_KEEPABLE = ("bad_input", "bad_json", "too_large", "not_found", "conflict", "wrong_state", "step_failed", "timed_out")
_STEP = re.compile(r'step "(.*)", call (\d+)$', re.DOTALL)


def _undo_options(undo: Optional[UndoSpec]) -> Dict[str, Any]:
    """The members that say how a step is undone."""
    if undo is None:
        return {}
    return {"compensation": undo.handler.encode(), "compensation_max_attempts": undo.max_attempts,
            "compensation_backoff": undo.backoff.encode(), "compensation_base_ms": undo.base_ms,
            "compensation_max_ms": undo.max_ms, "compensation_jitter": undo.jitter,
            "compensation_timeout_ms": undo.timeout_ms, "compensation_once": undo.once,
            "compensation_metadata": None if undo.metadata is None else undo.metadata.encode()}


class RunEnded(errors.Suspended):
    """The run is over for another reason than a suspension, such as a lost lease; ``error`` says which."""

    def __init__(self, error: errors.CairnError) -> None:
        super().__init__(str(error))
        self.error = error


class Passage:
    """A run that is open; ``end()`` is called once."""

    def __init__(self, native: Native, worker: bytes, raw: RawTask, commit: str, lease_ms: int) -> None:
        self._native = native
        self._lib: Any = native.lib
        self._name = raw.type
        self._pointer = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._users = 0  # calls that are inside
        self._is_closed = False  # no call is let in
        self._is_over = False  # the last one out frees it
        self.failure: Optional[errors.CairnError] = None  # of the latest call that failed
        mode = _abi.CAIRN_COMMIT_STEP if commit == "step" else _abi.CAIRN_COMMIT_PASSAGE
        error = _abi.cairn_error()
        native.enter()
        try:
            if self._lib.cairn_passage_open(native.pointer, worker, raw.at, mode, lease_ms, _REF(self._pointer),
                                            _REF(error)):
                raise error_of(error)
        finally:
            native.leave()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):  # the worker has left it behind
            self._lib.cairn_passage_free(self._pointer)

    # ---- who is inside

    def misuse(self) -> errors.Misuse:
        """What a call is told that comes after the end."""
        return errors.Misuse(f'the run of "{self._name}" has ended',
                             hint="a function waits for what it has begun; a thread or task of its own ends with it")

    def close(self) -> None:
        """Lets no call in any more; those that are inside go on."""
        with self._lock:
            self._is_closed = True

    def _hold(self) -> None:
        with self._lock:
            if self._is_closed:
                raise self.misuse()
            self._users += 1

    def _drop(self) -> None:
        with self._lock:
            self._users -= 1
            is_last = self._is_over and self._users == 0
            pointer = self._pointer
            if is_last:
                self._pointer = ctypes.c_void_p()
        if is_last:
            self._lib.cairn_passage_free(pointer)

    def _call(self, name: str, *arguments: Any) -> None:
        error = _abi.cairn_error()
        self._hold()
        try:
            self._native.enter()
            try:
                code = getattr(self._lib, name)(self._pointer, *arguments, _REF(error))
            finally:
                self._native.leave()
            if code:
                self._raise(error)
        finally:
            self._drop()

    def _raise(self, said: _abi.cairn_error) -> NoReturn:
        error = error_of(said)
        self.failure = error
        if said.code == SUSPENDED:
            raise errors.Suspended()
        if error.code not in _KEEPABLE:
            raise RunEnded(error)
        if isinstance(error, errors.StepFailed):
            self._fill(error)
        raise error

    def _fill(self, error: errors.StepFailed) -> None:
        found = _STEP.search(error.detail)
        if found:
            error.key, error.attempts = found.group(1), int(found.group(2))
        error.error = self._whole_error(error.key) or error.message

    def _whole_error(self, key: str) -> Optional[str]:
        """The error of a remembered step, which is longer than what an error can carry."""
        memory = self._lib.cairn_passage_task(self._pointer)[0].memory[0]
        for i in range(memory.step_count):
            step = memory.steps[i][0]
            if step.name and step.error and step.name.decode() == key:
                return str(step.error.decode(errors="replace"))
        return None

    # ---- steps

    def begin_step(self, spec: StepSpec) -> Tuple[Optional[int], bytes]:
        """What is to be executed now, or None and the output that is remembered."""
        work = ctypes.c_void_p()
        options = _abi.new(
            _abi.cairn_step_options, key=spec.key.encode(), input=spec.input, retries=spec.retries,
            backoff=spec.backoff.encode(), base_ms=spec.base_ms, max_ms=spec.max_ms, jitter=spec.jitter,
            timeout_ms=spec.timeout_ms, **_undo_options(spec.undo))
        output = self._ask_text("cairn_passage_begin_step", _REF(options), _REF(work))
        return work.value, output

    def step_task(self, work: int) -> RawTask:
        """The task of a step that is being executed."""
        self._hold()
        try:
            return read_task(self._lib.cairn_work_task(work))
        finally:
            self._drop()

    def complete_step(self, work: int, output: bytes, outbound: List[Tuple[bytes, bytes]]) -> bytes:
        """Ends a step; answers its output as it is remembered."""
        self._hold()
        try:
            self._lib.cairn_work_set_output(work, output)
            for event, payload in outbound:
                self._lib.cairn_work_emit(work, event, payload)
            return self._end_step(work, _abi.CAIRN_COMPLETE)
        finally:
            self._drop()

    def fail_step(self, work: int, outcome: int, error: bytes, delay_ms: int) -> bytes:
        """Ends a step that has failed: raises Suspended if it is called again, else StepFailed."""
        self._hold()
        try:
            self._lib.cairn_work_set_error(work, error)
            self._lib.cairn_work_set_delay(work, delay_ms)
            return self._end_step(work, outcome)
        finally:
            self._drop()

    def drop_step(self, work: int) -> None:
        """Nothing is remembered of a step whose caller has given it up."""
        self._call("cairn_passage_drop_step", work)

    def _end_step(self, work: int, outcome: int) -> bytes:
        return self._ask_text("cairn_passage_end_step", work, outcome)

    def _ask_text(self, name: str, *arguments: Any) -> bytes:
        """A call that answers a text, which is the run's own: it is read while the run is held."""
        text = ctypes.c_char_p()
        self._hold()
        try:
            self._call(name, *arguments, _REF(text))
            return text.value or b"null"
        finally:
            self._drop()

    # ---- what suspends, and values

    def sleep(self, key: str, ms: int) -> None:
        """Until so much time has passed."""
        self._call("cairn_passage_sleep", key.encode(), ms)

    def sleep_until(self, key: str, at_us: int) -> None:
        """Until a time."""
        self._call("cairn_passage_sleep_until", key.encode(), at_us)

    def wait_event(self, key: Optional[str], event: str, timeout_ms: int) -> bytes:
        """Until a signal has come; its payload.  TimedOut."""
        return self._ask_text("cairn_passage_wait_event", None if key is None else key.encode(), event.encode(),
                              timeout_ms)

    def now(self) -> int:
        """The store's time, in microseconds."""
        value = ctypes.c_int64()
        self._call("cairn_passage_now", _REF(value))
        return value.value

    def random(self) -> float:
        """From 0 up to but not including 1."""
        value = ctypes.c_double()
        self._call("cairn_passage_random", _REF(value))
        return value.value

    def uuid(self) -> str:
        """A UUID."""
        id = ctypes.create_string_buffer(_ID)
        self._call("cairn_passage_uuid", id)
        return id.value.decode()

    def start_job(self, key: Optional[str], spec: Dict[str, Any]) -> str:
        """Records a job with the next commit; its id."""
        id = ctypes.create_string_buffer(_ID)
        options = _abi.new(_abi.cairn_job_spec, **spec)
        self._call("cairn_passage_start_job", None if key is None else key.encode(), _REF(options), id)
        return id.value.decode()

    def start_workflow(self, key: Optional[str], spec: Dict[str, Any]) -> str:
        """Starts an instance with the next commit; its id."""
        id = ctypes.create_string_buffer(_ID)
        options = _abi.new(_abi.cairn_start_options, **spec)
        self._call("cairn_passage_start_workflow", None if key is None else key.encode(), _REF(options), id)
        return id.value.decode()

    def call(self, key: Optional[str], spec: Dict[str, Any], timeout_ms: int) -> bytes:
        """Starts a child and waits for its end; its output.  StepFailed, TimedOut."""
        options = _abi.new(_abi.cairn_start_options, **spec)
        return self._ask_text("cairn_passage_call", None if key is None else key.encode(), _REF(options), timeout_ms)

    def log(self, level: str, message: str, data: Optional[bytes]) -> bool:
        """A line that is kept with the next commit, and once; False: an earlier run has kept it."""
        self._hold()
        try:
            is_new = not self._lib.cairn_passage_is_replaying(self._pointer)
            self._call("cairn_passage_log", level.encode(), message.encode(errors="backslashreplace"), data)
            return is_new
        finally:
            self._drop()

    # ---- the end

    def set_output(self, output: bytes) -> None:
        """What the function returns."""
        self._call("cairn_passage_set_output", output)

    def end(self, code: int, error: Optional[bytes] = None) -> Optional[errors.CairnError]:
        """Commits what is left and lets nobody in; None, or why the commit did not succeed.  ``error`` is why the
        function has failed, if that is not what a call has said."""
        said = _abi.cairn_error()
        self.close()
        self._native.enter()
        try:
            if error is not None:
                self._lib.cairn_passage_set_error(self._pointer, error)
            failed = self._lib.cairn_passage_end(self._pointer, code, None, _REF(said))
        finally:
            self._native.leave()
            with self._lock:
                self._users += 1
                self._is_over = True
            self._drop()
        if not failed:
            return None
        said.code = failed
        return error_of(said)
