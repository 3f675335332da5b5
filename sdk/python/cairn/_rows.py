# SPDX-License-Identifier: Apache-2.0
"""What the engine answers: one frozen dataclass for each object of ``openapi.json``.

Fields have the names of the JSON; times are aware datetimes in UTC, payloads are decoded, and fields
that this package does not know are ignored.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Type, TypeVar

from cairn._codec import DEFAULT, Codec
from cairn._decode import convert
from cairn._words import Duration, Json, from_time

Row = TypeVar("Row")


def _payload(default: Any = None) -> Any:
    """A value that the user's codec has written."""
    return field(default=default, metadata={"kind": "payload"})


def decode_value(codec: Codec, value: Json, type: Any) -> Any:
    """A payload that is parsed already, as an annotation says."""
    if codec is DEFAULT:
        return value if type is Any else convert(value, type)
    return codec.decode(json.dumps(value, ensure_ascii=False), type)


_readers: Dict[type, Tuple[List[str], List[str], List[str]]] = {}


def _reader(cls: Any) -> Tuple[List[str], List[str], List[str]]:
    plain: List[str] = []
    times: List[str] = []
    payloads: List[str] = []
    for one in fields(cls):
        if one.metadata.get("kind") == "payload":
            payloads.append(one.name)
        elif "datetime" in str(one.type):
            times.append(one.name)
        else:
            plain.append(one.name)
    return plain, times, payloads


def read_row(cls: Type[Row], data: Dict[str, Json], codec: Codec) -> Row:
    """The JSON object of an answer as a row."""
    known = _readers.get(cls)
    if known is None:
        known = _readers[cls] = _reader(cls)
    plain, times, payloads = known
    values = {name: data[name] for name in plain if name in data}
    for name in times:
        values[name] = from_time(data.get(name))
    for name in payloads:
        value = data.get(name)
        values[name] = value if value is None else decode_value(codec, value, Any)
    return cls(**values)


class _Plain:
    """What dataclass() would compile for each row, which a fifth of the time of ``import cairn`` was spent
    on: the same for all of them."""

    def __init__(self, *values: Any, **given: Any) -> None:
        known = fields(self)  # type: ignore[arg-type]  # the classes below are dataclasses
        named = dict(zip((one.name for one in known), values))
        if len(values) > len(known) or not named.keys().isdisjoint(given):
            raise TypeError(f"{self.__class__.__qualname__}() got too many values")
        given.update(named)
        for one in known:
            if one.name in given:
                self.__dict__[one.name] = given.pop(one.name)
            elif one.default is not MISSING:
                self.__dict__[one.name] = one.default
            elif one.default_factory is not MISSING:
                self.__dict__[one.name] = one.default_factory()
            else:
                raise TypeError(f"{self.__class__.__qualname__}() misses {one.name}")
        if given:
            raise TypeError(f"{self.__class__.__qualname__}() has no {next(iter(given))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


if TYPE_CHECKING:
    from dataclasses import dataclass as _row
else:

    def _row(frozen):
        """A dataclass that is as _Plain says, which is frozen."""
        return dataclass(init=False, repr=False, eq=False)


@_row(frozen=True)
class Job(_Plain):
    """A job, as it was when it was read.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue("mail.send.v1", {"to": "ann"}).get()
    >>> job.type, job.status, job.payload, job.attempt, job.result
    ('mail.send.v1', 'pending', {'to': 'ann'}, 0, None)
    """

    id: str
    type: str
    status: str
    priority: int = 100
    attempt: int = 0
    max_attempts: int = 3
    payload: Json = _payload()
    result: Json = _payload()
    idempotency_key: Optional[str] = None
    leased_by: Optional[str] = None
    last_error: Optional[str] = None
    metadata: Optional[Dict[str, Any]] = None
    tags: Optional[Dict[str, str]] = None
    timeout_ms: int = 0
    retry: Optional[Dict[str, Any]] = None
    run_at: Optional[datetime] = None
    lease_until: Optional[datetime] = None
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None
    deleted_at: Optional[datetime] = None
    why: Optional[Dict[str, Any]] = None  # of a single job: why it has not ended
    schedule: Optional[str] = None  # that has recorded it
    group: str = ""  # groups of a type take turns
    error_group: Optional[str] = None  # errors that are alike have the same


@_row(frozen=True)
class Instance(_Plain):
    """An instance of a workflow or function, as it was when it was read.

    ``last_error`` is None or ``{"step", "message", "attempt", "at"}``.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     _ = db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    ...     trip = db.start("trip", {"to": "Lisbon"}).get()
    >>> trip.workflow, trip.status, trip.current_steps, trip.error
    ('trip', 'running', ['flight'], '')
    """

    id: str
    workflow: str
    version: int
    status: str
    current_steps: List[str] = field(default_factory=lambda: [])
    generation: int = 1
    key: Optional[str] = None
    input: Json = _payload()
    output: Json = _payload()
    last_error: Optional[Dict[str, Any]] = None
    undo_error: Optional[Dict[str, Any]] = None
    metadata: Optional[Dict[str, Any]] = None
    tags: Optional[Dict[str, str]] = None
    parent: Optional[str] = None
    source: Optional[str] = None
    group: str = ""
    error_group: Optional[str] = None  # errors that are alike have the same
    created_at: Optional[datetime] = None
    start_at: Optional[datetime] = None
    started_at: Optional[datetime] = None
    finished_at: Optional[datetime] = None
    paused_by: Optional[str] = None
    paused_reason: Optional[str] = None
    paused_at: Optional[datetime] = None
    why: Optional[Dict[str, Any]] = None  # of a single instance: why it has not ended
    schedule: Optional[str] = None  # that has started it

    @property
    def error(self) -> str:
        """The message of ``last_error``, or an empty text."""
        return str(self.last_error.get("message") or "") if self.last_error else ""


@_row(frozen=True)
class Step(_Plain):
    """A step of an instance.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     _ = db.deploy("{workflow: trip, version: 1, steps: [{step: flight}, {step: car}]}")
    ...     [(step.name, step.status) for step in db.start("trip").steps()]
    [('flight', 'ready'), ('car', 'pending')]
    """

    id: str
    seq: int
    name: str
    kind: str
    status: str
    handler: Optional[str] = None
    attempts: int = 0
    max_attempts: int = 0
    compensation_attempts: int = 0
    commit_no: int = 0
    priority: int = 50
    input: Json = _payload()
    output: Json = _payload()
    error: Optional[str] = None
    undo_error: Optional[str] = None
    metadata: Optional[Dict[str, Any]] = None
    waiting_event: Optional[str] = None
    locked_by: Optional[str] = None
    next_run_at: Optional[datetime] = None
    started_at: Optional[datetime] = None
    finished_at: Optional[datetime] = None
    deadline_at: Optional[datetime] = None
    locked_until: Optional[datetime] = None
    wait_for: Optional[List[str]] = None


@_row(frozen=True)
class Event(_Plain):
    """Something that happened to a job or an instance.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     [event.type for event in db.enqueue("mail.send.v1").events()]
    ['created']
    """

    id: str
    type: str
    step: Optional[str] = None
    data: Json = None
    at: Optional[datetime] = None


@_row(frozen=True)
class StreamEvent(_Plain):
    """An event of any job or instance; ``subject`` is its id.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue("mail.send.v1")
    ...     [event.type for event in db.events() if event.subject == job.id]
    ['created']
    """

    subject: str
    id: str
    type: str
    step: Optional[str] = None
    data: Json = None
    at: Optional[datetime] = None


@_row(frozen=True)
class Log(_Plain):
    """A line that a function has logged.

    >>> Log(id="1", level="info", message="reserved").message
    'reserved'
    """

    id: str
    level: str
    message: str
    data: Json = None
    step: Optional[str] = None
    attempt: int = 0
    at: Optional[datetime] = None


@_row(frozen=True)
class DlqRecord(_Plain):
    """A failed step or compensation that needs a person's attention.

    >>> DlqRecord(id="1", instance_id="i", workflow_id="import/1", step_id="s", step_name="load").is_open
    True
    """

    id: str
    instance_id: str
    workflow_id: str
    step_id: str
    step_name: str
    step_type: Optional[str] = None
    input: Json = _payload()
    error: Optional[str] = None
    reason: str = ""
    is_open: bool = True
    created_at: Optional[datetime] = None


@_row(frozen=True)
class Definition(_Plain):
    """A deployed workflow or function.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     _ = db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    ...     [(found.name, found.version) for found in db.workflows()]
    [('trip', 1)]
    """

    name: str
    version: int
    hash: str
    definition: Json = None
    created_at: Optional[datetime] = None


@_row(frozen=True)
class Deployed(_Plain):
    """What ``deploy()`` did; ``existing``: the same content was there.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     first = db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    ...     again = db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    >>> first.existing, again.existing, first.hash == again.hash
    (False, True, True)
    """

    name: str
    version: int
    hash: str
    existing: bool


@_row(frozen=True)
class Signalled(_Plain):
    """What became of a signal.

    ``existing``: its id was known.  ``taken``: a step waited for it and goes on.  ``kept``: it was taken,
    or is kept for a later wait.

    >>> Signalled(id="bank-991", existing=False, taken=True, kept=True).taken
    True
    """

    existing: bool
    taken: bool
    kept: bool
    id: Optional[str] = None


@_row(frozen=True)
class RegistryEntry(_Plain):
    """Which runtime executes a type, and whether it may be claimed.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     db.registry_put("mail.send.v1", runtime="go")
    ...     [(entry.workflow_name, entry.runtime) for entry in db.registry()]
    [('mail.send.v1', 'go')]
    """

    workflow_name: str
    runtime: str
    intent_type: str = "workflow"
    is_enabled: bool = True
    description: Optional[str] = None
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None


@_row(frozen=True)
class OutboxEvent(_Plain):
    """An event that a handler has emitted, for other systems.

    >>> OutboxEvent(id="1", instance_id="i", step="ship", event="shipped", payload={"parcel": 1}).event
    'shipped'
    """

    id: str
    instance_id: str
    step: str
    event: str
    payload: Json = _payload()
    created_at: Optional[datetime] = None


@_row(frozen=True)
class Finding(_Plain):
    """The result of one check of ``doctor()``: ok, warning or error.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     {finding.result for finding in db.doctor()}
    {'ok'}
    """

    check: str
    result: str
    text: str


@_row(frozen=True)
class Signal(_Plain):
    """The signal that ended the wait of a step.

    >>> Signal(id="bank-991", event="payment.settled", payload={"amount": 250}).payload["amount"]
    250
    """

    id: Optional[str]
    event: str
    payload: Json = None


@_row(frozen=True)
class Limit(_Plain):
    """How many tasks of some types may be leased at one time, or begin in a time.

    ``types`` is a type, or a prefix that ends in ``%``.  ``rate`` is (n, duration): n may begin in this time.
    ``per_group``: so many for each group, not in the whole store.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     db.limit_put(Limit("mail", types="mail.%", concurrency=2, rate=(100, "1m"), per_group=True))
    ...     [(found.name, found.concurrency, found.rate) for found in db.limits()]
    [('mail', 2, (100, 60.0))]
    """

    name: str
    types: str
    concurrency: int = 0  # 0: any number
    rate: Optional[Tuple[int, Duration]] = None
    per_group: bool = False
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None
    taken: Optional[int] = None  # tasks that match and are leased; None before it was read
    waiting: Optional[int] = None  # tasks that match and could be claimed


@_row(frozen=True)
class Schedule(_Plain):
    """When a task or a workflow is started by itself.

    ``cron`` or ``every``, ``task`` or ``workflow``.  ``paused`` None leaves it as it is, and makes a new one that is
    not.  What follows it is filled in when schedules are read; ``runs`` has the latest, newest first.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     db.schedule_put(Schedule("nightly", cron="0 3 * * *", workflow="report", timezone="Europe/Berlin"))
    ...     [(found.name, found.cron, found.overlap, found.catch_up) for found in db.schedules()]
    [('nightly', '0 3 * * *', 'skip', 'last')]
    """

    name: str
    cron: Optional[str] = None
    every: Optional[Duration] = None
    task: Optional[str] = None
    workflow: Optional[str] = None
    input: Json = _payload()
    timezone: str = "UTC"
    overlap: str = "skip"
    catch_up: str = "last"
    paused: Optional[bool] = None
    version: int = 0  # of the workflow; 0: the highest at the time
    next_at: Optional[datetime] = None
    last_at: Optional[datetime] = None
    waiting_at: Optional[datetime] = None
    created_at: Optional[datetime] = None
    updated_at: Optional[datetime] = None
    runs: Optional[List[Dict[str, Any]]] = None
