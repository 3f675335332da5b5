# SPDX-License-Identifier: Apache-2.0
"""An open engine of libcairn, as Python objects: opening, closing and the calls of workers.

Nothing else in the package touches the library's structs, except ``_passage`` (functions) and
``_workflow`` (files).  ctypes releases Python's lock during each call.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import threading
import time
import weakref
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from cairn import _abi, _library, _sqlites, errors

_REF = ctypes.byref
_log = logging.getLogger("cairn.engine")
_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_NOTICES = 1.0  # seconds
_WAKE_AGAIN = 0.02  # seconds; a wake ends only calls that wait already


class RawTask:
    """A task as it was claimed: texts as bytes, times in microseconds."""

    __slots__ = ("id", "token", "kind", "type", "input", "key", "attempt", "max_attempts", "lease_until_us",
                 "instance_id", "step", "metadata", "reason", "signal", "deadline_us", "version", "page", "at")

    id: bytes
    token: bytes
    kind: str
    type: str
    input: bytes
    key: Optional[bytes]
    attempt: int
    max_attempts: int
    lease_until_us: int
    instance_id: Optional[bytes]
    step: Optional[bytes]
    metadata: Optional[bytes]
    reason: Optional[bytes]
    signal: Optional[bytes]
    deadline_us: int
    version: int
    page: Optional["Page"]
    at: Any


class Report:
    """The outcome of a task, to be sent."""

    __slots__ = ("id", "token", "outcome", "output", "error", "delay_ms", "event", "timeout_ms", "outbound", "is_missing")

    def __init__(self, id: bytes, token: bytes, outcome: int, output: Optional[bytes] = None,
                 error: Optional[bytes] = None, delay_ms: int = -1) -> None:
        self.id = id
        self.token = token
        self.outcome = outcome
        self.output = output
        self.error = error
        self.delay_ms = delay_ms
        self.event: Optional[bytes] = None
        self.timeout_ms = -1
        self.outbound: List[Tuple[bytes, bytes]] = []
        self.is_missing = False

    def weight(self) -> int:
        """About how many bytes it has."""
        size = len(self.output or b"") + len(self.error or b"")
        return size + sum(len(payload) for _, payload in self.outbound)


class Page:
    """The memory of claimed functions; freed when the last of them has begun or was given back."""

    def __init__(self, native: "Native", pointer: int, users: int) -> None:
        self._native = native
        self._pointer = pointer
        self._users = users
        self._lock = threading.Lock()

    def drop(self) -> None:
        """One user less."""
        with self._lock:
            self._users -= 1
            is_last = self._users == 0
        if is_last:
            self._native.lib.cairn_page_free(self._pointer)


class Claim:
    """What a worker claims; used by one thread at a time."""

    def __init__(self, worker: str, types: Sequence[str], functions: Sequence[Tuple[str, int, int]],
                 runtime: Optional[str], lease_ms: int) -> None:
        self._types = (ctypes.c_char_p * len(types))(*[name.encode() for name in types])
        self._codes = (_abi.cairn_function_code * len(functions))(*[
            _abi.new(_abi.cairn_function_code, name=name.encode(), version=version, from_version=from_version)
            for name, version, from_version in functions])
        self.struct = _abi.new(
            _abi.cairn_claim_options, worker=worker.encode(), lease_ms=lease_ms,
            runtime=None if runtime is None else runtime.encode())
        self.struct.types = self._types
        self.struct.type_count = len(types)
        self.struct.functions = self._codes
        self.struct.function_count = len(functions)


def error_of(error: _abi.cairn_error) -> errors.CairnError:
    """The exception for what the library has said."""
    return errors.make(errors.CODE_OF_NUMBER.get(error.code, "internal"), error.message.decode(errors="replace"),
                       error.detail.decode(errors="replace"), error.hint.decode(errors="replace"))


class Native:
    """An engine that is open, shared by threads.  Counts the calls under way, so that close() can wait."""

    def __init__(self, options: Dict[str, Any], trial: Optional[Dict[str, Any]] = None) -> None:
        self.lib: Any = _library.load()
        self.is_forked = False
        self._engine = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._is_idle = threading.Condition(self._lock)
        self._users = 0
        self._is_closed = False
        self.keepers: Set[Any] = set()  # of the workers that run
        self._notice_at = 0.0  # when to ask for notices again
        error = _abi.cairn_error()
        given = _abi.new(_abi.cairn_open_options, **options)
        if trial is None:
            code = self.lib.cairn_open(_REF(given), _REF(self._engine), _REF(error))
        else:
            faults = _abi.new(_abi.cairn_trial_options, **trial)
            code = self.lib.cairn_trial_open(_REF(given), _REF(faults), _REF(self._engine), _REF(error))
        if code:
            self._is_closed = True
            raise error_of(error)
        self.pointer: int = self._engine.value or 0
        self.url: str = self.lib.cairn_url(self._engine).decode(errors="replace")
        self.file = _sqlites.file_of(self.url)
        _open_engines.add(self)

    # ---- its life

    def enter(self) -> None:
        """Before a call.  Closed, or Misuse in a forked child."""
        if self.is_forked:
            raise errors.Misuse("this engine was opened before a fork",
                                hint="open it after the fork (gunicorn: post_fork, Celery: worker_process_init)")
        with self._lock:
            if self._is_closed:
                raise errors.Closed("the engine is closed")
            self._users += 1

    def leave(self) -> None:
        """After it."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._is_closed:
                self._is_idle.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._is_closed

    def close(self) -> None:
        """Lets calls under way end, then closes.  In a forked child it does nothing."""
        if self.is_forked:
            return
        with self._lock:
            is_first = not self._is_closed
            self._is_closed = True
        if not is_first:
            return
        for keeper in list(self.keepers):
            keeper.end(is_closed=True)
        with self._lock:
            while self._users:
                self.lib.cairn_wake(self._engine, None)
                self._is_idle.wait(_WAKE_AGAIN)
        _open_engines.discard(self)
        self.lib.cairn_close(self._engine)

    def wake(self, worker: bytes) -> None:
        """Ends the claim of a worker that waits."""
        if self.is_forked or self._is_closed:
            return
        self.enter()
        try:
            self.lib.cairn_wake(self._engine, worker)
        finally:
            self.leave()

    # ---- calls

    def call(self, method: str, target: str, body: Optional[bytes]) -> Tuple[int, bytes]:
        """Any route of the JSON interface: its status and its answer."""
        error = _abi.cairn_error()
        response = ctypes.c_void_p()
        request = _abi.new(_abi.cairn_request, method=method.encode(), target=target.encode(), body=body,
                           body_len=0 if body is None else len(body))
        self.enter()
        try:
            code = self.lib.cairn_call(self._engine, _REF(request), _REF(response), _REF(error))
            if code:
                raise error_of(error)
            self._tell()
            status: int = self.lib.cairn_response_status(response)
            answer: bytes = self.lib.cairn_response_body(response, None) or b""
        finally:
            self.lib.cairn_response_free(response)
            self.leave()
        return status, answer

    def verdict(self, id: Optional[bytes], laws: List[bytes]) -> Dict[str, Any]:
        """Of a trial: how an instance has ended, which laws are broken, and the story so far."""
        response = ctypes.c_void_p()
        error = _abi.cairn_error()
        given = (ctypes.c_char_p * len(laws))(*laws)
        self.enter()
        try:
            if self.lib.cairn_trial_check(self._engine, id, given, len(laws), _REF(response), _REF(error)):
                raise error_of(error)
            answer: Dict[str, Any] = json.loads(self.lib.cairn_response_body(response, None))
            self.lib.cairn_response_free(response)
            return answer
        finally:
            self.leave()

    def claim(self, claim: Claim, most: int, wait_ms: int) -> List[RawTask]:
        """At most so many tasks, after waiting so long for the first."""
        error = _abi.cairn_error()
        page = ctypes.c_void_p()
        claim.struct.max = most
        claim.struct.wait_ms = wait_ms
        self.enter()
        try:
            if self.lib.cairn_claim(self._engine, _REF(claim.struct), _REF(page), _REF(error)):
                raise error_of(error)
            return self._take_tasks(page)
        finally:
            self._tell()
            self.leave()

    def report(self, worker: bytes, reports: Sequence[Report], claim: Claim, most: int,
               ) -> Tuple[List[Optional[errors.CairnError]], List[RawTask]]:
        """Sends outcomes and, if `most` is not 0, claims in the same commit.  For each outcome: None, or why not."""
        count = len(reports)
        error = _abi.cairn_error()
        page = ctypes.c_void_p()
        given = (_abi.cairn_report * count)()
        taken = (_abi.cairn_reported * count)()
        keep = [_fill(struct, report) for struct, report in zip(given, reports)]
        claim.struct.max = most
        claim.struct.wait_ms = 0
        wanted = _REF(claim.struct) if most else None
        self.enter()
        try:
            if self.lib.cairn_report_many(self._engine, worker, given, count, taken, wanted,
                                          _REF(page) if most else None, _REF(error)):
                raise error_of(error)
            del keep
            return [_result(one) for one in taken], self._take_tasks(page) if most else []
        finally:
            self.leave()

    def heartbeat(self, worker: bytes, beats: Sequence[Tuple[bytes, bytes, int]],
                  ) -> List[Tuple[Optional[str], Optional[str]]]:
        """Extends leases (with 0 ms: only looks).  For each: the code of an error, and why to stop."""
        count = len(beats)
        error = _abi.cairn_error()
        given = (_abi.cairn_beat * count)(*[
            _abi.new(_abi.cairn_beat, task_id=id, token=token, extend_ms=extend_ms) for id, token, extend_ms in beats])
        self.enter()
        try:
            if self.lib.cairn_heartbeat_many(self._engine, worker, given, count, _REF(error)):
                raise error_of(error)
            return [(errors.CODE_OF_NUMBER.get(beat.ret_code, "internal") if beat.ret_code else None,
                     beat.ret_stop.decode() if beat.ret_stop else None) for beat in given]
        finally:
            self.leave()

    def is_idle(self, claim: Claim) -> bool:
        """Whether such a claim brings nothing, and nothing is leased that can lead to something that it would."""
        error = _abi.cairn_error()
        answer = ctypes.c_int()
        self.enter()
        try:
            if self.lib.cairn_idle_for(self._engine, _REF(claim.struct), _REF(answer), _REF(error)):
                raise error_of(error)
        finally:
            self.leave()
        return bool(answer.value)

    # ---- notices

    def _tell(self) -> None:
        """Logs what the library has to tell; asked for with other calls, at most once a second."""
        now = time.monotonic()
        if now < self._notice_at:
            return
        self._notice_at = now + _NOTICES
        response = ctypes.c_void_p()
        if self.lib.cairn_notices(self._engine, _REF(response)) <= 0:
            return
        told = json.loads(self.lib.cairn_response_body(response, None))
        self.lib.cairn_response_free(response)
        for notice in told["notices"]:
            level = _LEVELS.get(notice.get("level"), logging.WARNING)
            _log.log(level, "%s", notice.get("text"), extra={"cairn_notice": notice})
        if told["dropped"]:
            _log.warning("%d older notices were dropped", told["dropped"])

    # ---- helpers

    def _take_tasks(self, page: ctypes.c_void_p) -> List[RawTask]:
        lib = self.lib
        tasks = [read_task(lib.cairn_page_task(page, i)) for i in range(lib.cairn_page_count(page))]
        functions = [task for task in tasks if task.kind == "function"]
        if not functions:
            lib.cairn_page_free(page)
            return tasks
        kept = Page(self, page.value or 0, len(functions))
        for task in functions:
            task.page = kept
        return tasks


def read_task(pointer: Any) -> RawTask:
    """A task of the library, copied."""
    struct = pointer[0]
    task = RawTask()
    task.id = struct.id
    task.token = struct.token
    task.kind = struct.kind.decode()
    task.type = struct.type.decode()
    task.input = struct.input or b"null"
    task.key = struct.key
    task.attempt = struct.attempt
    task.max_attempts = struct.max_attempts
    task.lease_until_us = struct.lease_until_us
    task.instance_id = struct.instance_id
    task.metadata = struct.metadata
    task.deadline_us = struct.deadline_us
    task.version = 0
    task.page = None
    task.at = None
    if task.instance_id is None:
        task.step = task.reason = task.signal = None
        return task
    task.step = struct.step
    task.reason = struct.reason
    task.signal = struct.signal
    if task.kind == "function":
        task.version = struct.memory[0].version
        task.at = pointer
    return task


def _fill(struct: _abi.cairn_report, report: Report) -> Any:
    """Writes a report into its struct; the answer must live as long as the struct is used."""
    struct.size = ctypes.sizeof(_abi.cairn_report)
    struct.task_id = report.id
    struct.token = report.token
    struct.outcome = report.outcome
    struct.output = report.output
    struct.error = report.error
    struct.delay_ms = report.delay_ms
    struct.timeout_ms = report.timeout_ms
    if report.event is not None:
        struct.event = report.event
    if report.is_missing:
        struct.is_missing_handler = True
    if not report.outbound:
        return None
    outbound = (_abi.cairn_outbound * len(report.outbound))(*[
        _abi.new(_abi.cairn_outbound, event=event, payload=payload) for event, payload in report.outbound])
    struct.outbound = outbound
    struct.outbound_count = len(outbound)
    return outbound


def _result(reported: _abi.cairn_reported) -> Optional[errors.CairnError]:
    if reported.code == 0:
        return None
    reported.error.code = reported.code
    return error_of(reported.error)


# ---- forks

_open_engines: "weakref.WeakSet[Native]" = weakref.WeakSet()


def _after_fork() -> None:
    """In the child, the engine's threads do not exist and its locks may be held by one of them."""
    for native in list(_open_engines):
        native.is_forked = True
        native.lib.cairn_abandon(native.pointer)
    _open_engines.clear()


os.register_at_fork(after_in_child=_after_fork)


def open_files() -> List[str]:
    """The SQLite files that engines of this process have open."""
    return [native.file for native in list(_open_engines) if native.file]
