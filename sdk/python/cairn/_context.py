# SPDX-License-Identifier: Apache-2.0
"""What the code of a function is given: steps, sleeps, waits, and values that stay the same in every run."""

from __future__ import annotations

import datetime
import json
import logging
import threading
import typing
import weakref
from typing import (TYPE_CHECKING, Any, Awaitable, Callable, Dict, Generic, NamedTuple, Optional, Tuple, Type, TypeVar,
                    Union, overload)

from cairn import errors
from cairn._request import check_metadata
from cairn._task import Task
from cairn._types import FunctionType, TaskType, is_async, type_name
from cairn._words import Duration, Json, Time, Unset, from_us, to_ms, to_us
from cairn._workflow import Backoff, Compensation

if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple, Unpack

    from cairn._codec import Codec
    from cairn._passage import Passage

    A = TypeVarTuple("A")  # the arguments of a step's code

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

Undoer = Union[None, str, "TaskType[Any, Any]", Compensation]
BACKOFF = Backoff("exponential", "1s", "5m")

# What ctx.log writes goes to this logger as well.
_run_log = logging.getLogger("cairn.run")
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}

_results: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


def result_of(fn: Callable[..., Any]) -> Any:
    """The return annotation of a step's code; Any if it has none or it cannot be read."""
    inner = fn.fn if isinstance(fn, TaskType) else fn
    if "return" not in getattr(inner, "__annotations__", {}):
        return Any
    try:
        known = _results.get(inner)
        if known is None:
            known = _results[inner] = (typing.get_type_hints(inner).get("return", Any),)
        return known[0]
    except Exception:
        return Any


class StepSpec(NamedTuple):
    """The options of a step."""

    key: str
    input: bytes
    retries: int
    backoff: str
    base_ms: int
    max_ms: int
    jitter: float
    timeout_ms: int
    undo: Optional["UndoSpec"]


class UndoSpec(NamedTuple):
    """How a step is undone."""

    handler: str
    max_attempts: int
    backoff: str
    base_ms: int
    max_ms: int
    jitter: float
    timeout_ms: int
    once: bool
    metadata: Optional[str]


class StepCall(Generic[T]):
    """A step that ``gather()`` executes beside others; made by ``cairn.step()``."""

    def __init__(self, key: str, fn: Callable[..., Any], args: Tuple[Any, ...], retries: int, backoff: Backoff,
                 timeout: Optional[Duration], compensation: Undoer, dead_on: Tuple[Type[BaseException], ...]) -> None:
        self.key = key
        self.fn = fn
        self.args = args
        self.dead_on = dead_on
        self._retries = retries
        self._backoff = backoff
        self._timeout = timeout
        self._compensation = compensation

    @property
    def input(self) -> Any:
        """What is recorded as the step's input: null, the one argument, or the list of them."""
        if not self.args:
            return None
        return self.args[0] if len(self.args) == 1 else list(self.args)

    def spec(self, codec: "Codec") -> StepSpec:
        """As the library reads it."""
        base_ms, max_ms = _delays(self._backoff)
        return StepSpec(
            key=self.key, input=codec.encode(self.input).encode(), retries=self._retries, backoff=self._backoff.kind,
            base_ms=base_ms, max_ms=max_ms, jitter=self._backoff.jitter,
            timeout_ms=0 if self._timeout is None else to_ms(self._timeout), undo=_undo(self._compensation))


def _delays(backoff: Backoff) -> Tuple[int, int]:
    base_ms = to_ms(backoff.base)
    return base_ms, max(base_ms, 300_000) if backoff.max is None else to_ms(backoff.max)


def _undo(compensation: Undoer) -> Optional[UndoSpec]:
    if compensation is None:
        return None
    undo = compensation if isinstance(compensation, Compensation) else Compensation(type_name(compensation))
    retry = undo.retry or BACKOFF
    base_ms, max_ms = _delays(retry)
    return UndoSpec(
        handler=undo.handler, max_attempts=undo.max_attempts, backoff=retry.kind, base_ms=base_ms, max_ms=max_ms,
        jitter=retry.jitter, timeout_ms=0 if undo.timeout is None else to_ms(undo.timeout), once=not undo.idempotent,
        metadata=json.dumps(undo.metadata) if check_metadata(undo.metadata) else None)


@overload
def step(key: str, fn: Callable[[Unpack[A]], Awaitable[T]], *args: Unpack[A], retries: int = ...,
         backoff: Backoff = ..., timeout: Optional[Duration] = ..., compensation: Undoer = ...,
         dead_on: Tuple[Type[BaseException], ...] = ...) -> StepCall[T]: ...


@overload
def step(key: str, fn: Callable[[Unpack[A]], T], *args: Unpack[A], retries: int = ..., backoff: Backoff = ...,
         timeout: Optional[Duration] = ..., compensation: Undoer = ...,
         dead_on: Tuple[Type[BaseException], ...] = ...) -> StepCall[T]: ...


def step(key: str, fn: Callable[..., Any], *args: Any, retries: int = 2,  # type: ignore[misc]  # it takes any arguments
         backoff: Backoff = BACKOFF, timeout: Optional[Duration] = None, compensation: Undoer = None,
         dead_on: Tuple[Type[BaseException], ...] = ()) -> StepCall[Any]:
    """A step for ``Context.gather()``; the arguments are those of ``Context.step()``.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.function("sum")
    ... def total(ctx: cairn.Context, n: int) -> int:
    ...     return sum(ctx.gather(*[cairn.step(f"square-{i}", lambda i=i: i * i) for i in range(n)]))
    >>> with cairn.open("memory:") as db:
    ...     run = db.start(total, 4)
    ...     _ = db.work(app, until_idle=True)
    ...     run.result()
    14
    """
    return StepCall(key, fn, args, retries, backoff, timeout, compensation, dead_on)


class FunctionLog:
    """The log of a function: each line is kept once, however often the code runs; see ``InstanceHandle.logs()``.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.function("greet")
    ... def greet(ctx: cairn.Context, who: str) -> None:
    ...     ctx.log.info("greeted", who=who)
    >>> with cairn.open("memory:") as db:
    ...     run = db.start(greet, "ann")
    ...     _ = db.work(app, until_idle=True)
    ...     [(line.level, line.message, line.data) for line in run.logs()]
    [('info', 'greeted', {'who': 'ann'})]
    """

    def __init__(self, frame: "Frame") -> None:
        self._frame = frame

    def debug(self, message: str, **data: Json) -> None:
        """A line that helps to find faults."""
        self._frame.write_log("debug", message, data)

    def info(self, message: str, **data: Json) -> None:
        """A line about what happens."""
        self._frame.write_log("info", message, data)

    def warning(self, message: str, **data: Json) -> None:
        """A line about something odd."""
        self._frame.write_log("warn", message, data)

    def error(self, message: str, **data: Json) -> None:
        """A line about something wrong."""
        self._frame.write_log("error", message, data)


class Frame:
    """What Context and AsyncContext share."""

    def __init__(self, passage: "Passage", task: Task, codec: "Codec", version: int, state: Any) -> None:
        self.passage = passage
        self.task = task
        self.codec = codec
        self._lock = threading.Condition(threading.Lock())
        self._busy: Optional[str] = None
        self._refused: Optional[str] = None  # what was said of the latest call beside another
        self._is_ended = False
        self._on_idle: Optional[Callable[[], object]] = None  # once the run has ended
        self.instance_id: str = task.instance_id or ""
        self.version: int = version
        self.state: Any = state
        self.log: FunctionLog = FunctionLog(self)

    @property
    def stop(self) -> Optional[str]:
        """Why the function should end; None: go on."""
        return self.task.stop

    # ---- one call at a time

    def enter_call(self, name: str) -> None:
        """Misuse if another call is under way, or the run has ended."""
        with self._lock:
            if self._is_ended:
                raise self.passage.misuse()
            if self._busy is not None:
                self._refused = f'"{name}" was called while "{self._busy}" is under way'
                raise errors.Misuse(
                    self._refused,
                    hint="keys must be used in the same order in every run: call one after the other, or use gather()")
            self._busy = name

    def leave_call(self) -> None:
        """The call has ended."""
        with self._lock:
            self._busy = None
            self._lock.notify_all()
            told, self._on_idle = self._on_idle, None
        if told is not None:
            told()

    def write_log(self, level: str, message: str, data: Dict[str, Json]) -> None:
        """Also while a step is executed."""
        text = self.codec.encode(data).encode() if data else None
        if self.passage.log(level, message, text):
            fields = {**self.task.log_fields(), "cairn_data": text and text.decode()}
            _run_log.log(_LEVELS[level], "%s%s", message, f" {text.decode()}" if text else "", extra=fields)

    # ---- the end of the run

    def end_run(self, on_idle: Optional[Callable[[], object]] = None) -> Optional[errors.Misuse]:
        """Lets no call begin any more.  None, or what to fail with, since a call is still under way: what it gives
        is not wanted any more, and ``on_idle`` is called when it has returned."""
        with self._lock:
            self._is_ended = True
            self.passage.close()
            if self._busy is None:
                return None
            self._on_idle = on_idle
            return errors.Misuse(self._refused or f'the function ended while "{self._busy}" is under way')

    def wait_idle(self, seconds: float) -> None:
        """Until the call under way has returned, but no longer than this."""
        with self._lock:
            self._lock.wait_for(lambda: self._busy is None, seconds)

    # ---- arguments

    def decode(self, text: bytes, type: Any) -> Any:
        """A payload as an annotation says."""
        return self.codec.decode(text.decode(), type)

    def job(self, task: Union[str, TaskType[Any, Any]], payload: Any, key: Optional[str], priority: int,
            max_attempts: int, at: Optional[Time]) -> Dict[str, Any]:
        """A job as the library reads it."""
        return {"type": type_name(task).encode(), "payload": self._optional(payload),
                "key": None if key is None else key.encode(), "priority": priority, "max_attempts": max_attempts,
                "run_at_us": 0 if at is None else to_us(at)}

    def instance(self, workflow: Union[str, FunctionType[Any, Any]], input: Any, version: int, key: Optional[str],
                 at: Optional[Time]) -> Dict[str, Any]:
        """A start as the library reads it."""
        wanted = version or (workflow.version if isinstance(workflow, FunctionType) else 0)
        return {"workflow": str(workflow).encode(), "input": self._optional(input), "version": wanted,
                "key": None if key is None else key.encode(), "start_at_us": 0 if at is None else to_us(at)}

    def _optional(self, value: Any) -> Optional[bytes]:
        return None if isinstance(value, Unset) else self.codec.encode(value).encode()


def check_sync(call: StepCall[Any]) -> None:
    """A sync function cannot await."""
    if is_async(call.fn):
        raise errors.Misuse(f'the code of step "{call.key}" is async', hint="make the function async def, too")


def moment(us: int) -> datetime.datetime:
    """A time of the library."""
    found = from_us(us)
    assert found is not None
    return found

