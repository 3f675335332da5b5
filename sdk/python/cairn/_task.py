# SPDX-License-Identifier: Apache-2.0
"""The task that runs now."""

from __future__ import annotations

import contextvars
import logging
import threading
from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, MutableMapping, Optional, Tuple

from cairn import errors
from cairn._loops import refuse_on_loop
from cairn._rows import Signal, decode_value
from cairn._request import target
from cairn._words import Duration, Json, from_us, read_json, to_seconds

if TYPE_CHECKING:
    from cairn._codec import Codec
    from cairn._engine import Engine
    from cairn._ffi import RawTask

_current: "contextvars.ContextVar[Task]" = contextvars.ContextVar("cairn_task")

_worker_log = logging.getLogger("cairn.worker")
_function_log = logging.getLogger("cairn.function")


class TaskLogger(logging.LoggerAdapter):  # type: ignore[type-arg]  # it is generic only from Python 3.11 on
    """Adds the fields of the task to each record."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> Tuple[Any, MutableMapping[str, Any]]:
        """What LoggerAdapter does, but the caller's own `extra` is kept."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs


class Task:
    """What a handler executes now.

    ``kind`` is "job", "step", "compensation" or "function".  ``key`` of a job is its own; of a step it
    names the effect: give it to the outside world, so that the effect happens once.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.task("mail.send.v1")
    ... def send(task: cairn.Task, payload: dict) -> str:
    ...     return f"{task.kind}, call {task.attempt} of {task.max_attempts}, {task.stop}"
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue(send, {"to": "ann"})
    ...     _ = db.work(app, until_idle=True)
    ...     job.result()
    'job, call 1 of 3, None'
    """

    __slots__ = ("_raw", "worker", "state", "db", "_codec", "_stop", "_stopped", "_log", "outbound")

    worker: str
    state: Any
    db: "Engine"

    def __init__(self, raw: "RawTask", worker: str, state: Any, db: "Engine", codec: "Codec") -> None:
        self._raw = raw
        self.worker = worker
        self.state = state
        self.db = db
        self._codec = codec
        self._stop: Optional[str] = None
        self._stopped: Optional[threading.Event] = None
        self._log: Optional[TaskLogger] = None
        self.outbound: List[Tuple[bytes, bytes]] = []

    # ---- what it is

    @property
    def id(self) -> str:
        """The id of the job or step."""
        return self._raw.id.decode()

    @property
    def kind(self) -> str:
        """job, step, compensation or function."""
        return self._raw.kind

    @property
    def type(self) -> str:
        """The type that decides which handler is called."""
        return self._raw.type

    @property
    def key(self) -> Optional[str]:
        """The job's key, or the name of the effect."""
        return _text(self._raw.key)

    @property
    def input(self) -> Json:
        """The payload as plain JSON (or as the engine's own codec gives it)."""
        return self._codec.decode(self._raw.input.decode(), Any)

    @property
    def attempt(self) -> int:
        """The number of this call, from 1."""
        return self._raw.attempt

    @property
    def max_attempts(self) -> int:
        """Calls in all."""
        return self._raw.max_attempts

    @property
    def lease_until(self) -> datetime:
        """When the lease ends that the claim gave; the worker extends it."""
        found = from_us(self._raw.lease_until_us)
        assert found is not None
        return found

    @property
    def instance_id(self) -> Optional[str]:
        """None for jobs."""
        return _text(self._raw.instance_id)

    @property
    def step(self) -> Optional[str]:
        """The name of the step; None for jobs."""
        return _text(self._raw.step)

    @property
    def function(self) -> Optional[str]:
        """The name of the durable function that this is a step of, or is itself; None for others."""
        return self.type if self.kind == "function" else None

    @property
    def metadata(self) -> Optional[Dict[str, Any]]:
        """What was given to ``enqueue``, ``start`` or the step; None if nothing was."""
        return read_json(self._raw.metadata) if self._raw.metadata else None

    @property
    def reason(self) -> Optional[str]:
        """"WAITING_TIMEOUT" if the wait of the call before has timed out."""
        return _text(self._raw.reason)

    @property
    def signal(self) -> Optional[Signal]:
        """The signal that ended the wait before this call."""
        if not self._raw.signal:
            return None
        found = read_json(self._raw.signal)
        if not found:
            return None
        return Signal(found.get("id"), found["event"], decode_value(self._codec, found.get("payload"), Any))

    @property
    def deadline(self) -> Optional[datetime]:
        """When this call times out; None: it does not."""
        return from_us(self._raw.deadline_us)

    @property
    def log(self) -> TaskLogger:
        """A logger whose records carry the task's fields (``cairn_task``, ``cairn_type``, ...)."""
        if self._log is None:
            self._log = TaskLogger(_function_log if self.kind == "function" else _worker_log, self.log_fields())
        return self._log

    def log_fields(self) -> Dict[str, Any]:
        """What records about this task carry."""
        return {"cairn_task": self.id, "cairn_type": self.type, "cairn_key": self.key, "cairn_attempt": self.attempt,
                "cairn_instance": self.instance_id, "cairn_step": self.step, "cairn_worker": self.worker}

    # ---- what it may do

    @property
    def stop(self) -> Optional[str]:
        """Why the handler should end ("cancelled", "lease_lost", "shutdown", ...); None: go on.  It costs nothing."""
        return self._stop

    def check(self) -> None:
        """Raises Stopped if ``stop`` is set."""
        if self._stop is not None:
            raise errors.Stopped(self._stop)

    def wait(self, seconds: Duration) -> Optional[str]:
        """Sleeps so long, or until the task is stopped; answers ``stop``.  For sync handlers."""
        refuse_on_loop("Task.wait()", "await asyncio.sleep()")
        if self._stopped is None:
            self._stopped = threading.Event()
        if self._stop is None:
            self._stopped.wait(to_seconds(seconds))
        return self._stop

    def emit(self, event: str, payload: Json = None) -> None:
        """Adds an event for other systems, which is committed with complete or wait.  For steps only.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.task("noop.v1")
        ... def noop(task: cairn.Task) -> None:
        ...     task.emit("done")
        >>> with cairn.open("memory:") as db:
        ...     job = db.enqueue(noop, max_attempts=1)
        ...     _ = db.work(app, until_idle=True)
        ...     job.get().last_error.splitlines()[0]
        'Misuse: only steps can emit events; this task is a job'
        """
        if self._raw.kind != "step":
            raise errors.Misuse(f"only steps can emit events; this task is a {self._raw.kind}")
        if not event:
            raise ValueError("event is empty")
        self.outbound.append((event.encode(), self._codec.encode(payload).encode()))

    def instance_input(self) -> Json:
        """The input of the instance that this step, compensation or function belongs to.  It asks the engine.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.task("ship")
        ... def ship(task: cairn.Task) -> str:
        ...     return f"{task.output_of('pack')} for {task.instance_input()['to']}"
        >>> @app.task("pack")
        ... def pack() -> str:
        ...     return "a parcel"
        >>> wf = cairn.Workflow("order")
        >>> wf.step("pack"); wf.step("ship")
        >>> with cairn.open("memory:") as db:
        ...     _ = db.deploy(wf)
        ...     order = db.start("order", {"to": "ann"})
        ...     _ = db.work(app, until_idle=True)
        ...     order.result()
        'a parcel for ann'
        """
        return self._decode(self._context(self.step)["input"])

    def output_of(self, step: str) -> Json:
        """The output of a finished step of the instance; NotFound if it has not finished.  It asks the engine."""
        outputs = self._context(step)["outputs"]
        if step not in outputs:
            raise errors.NotFound(f'step "{step}" has not finished')
        return self._decode(outputs[step])

    def _context(self, step: Optional[str]) -> Dict[str, Any]:
        if self._raw.instance_id is None:
            raise errors.Misuse("a job belongs to no instance")
        answer: Dict[str, Any] = self.db.ask("GET", target("tasks", self.id, "context", worker=self.worker,
                                                            token=self._raw.token.decode(), step=step))
        return answer

    def _decode(self, value: Json) -> Json:
        return decode_value(self._codec, value, Any)

    def set_stop(self, reason: str) -> None:
        """For the worker: tells the handler to end."""
        if self._stop is None or reason == "lease_lost":
            self._stop = reason
        if self._stopped is not None:
            self._stopped.set()

    @property
    def raw(self) -> "RawTask":
        """For the worker: the task as it was claimed."""
        return self._raw

    def __repr__(self) -> str:
        return f"<task {self.id}, {self.type!r}, call {self.attempt}>"


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode()


def current_task() -> Task:
    """The task that the calling handler executes; LookupError elsewhere.

    It is also found in coroutines, and in threads that are started with a copy of the context.

    >>> import cairn
    >>> app = cairn.App()
    >>> def helper() -> str:
    ...     return cairn.current_task().type
    >>> @app.task("noop.v1")
    ... def noop() -> str:
    ...     return helper()
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue(noop)
    ...     _ = db.work(app, until_idle=True)
    ...     job.result()
    'noop.v1'
    >>> cairn.current_task()
    Traceback (most recent call last):
        ...
    LookupError: no task is being executed here
    """
    task = _current.get(None)
    if task is None:
        raise LookupError("no task is being executed here")
    return task


def enter_task(task: Task) -> "contextvars.Token[Task]":
    """Makes it the current one."""
    return _current.set(task)


def leave_task(token: "contextvars.Token[Task]") -> None:
    """Undoes enter_task()."""
    _current.reset(token)
