# SPDX-License-Identifier: Apache-2.0
"""Jobs and workflows that are recorded in the caller's own transaction.

The statements are the plain SQL of docs/guides/sql.md.  What to execute is decided here, in
generators that yield statements and receive rows; how a driver executes them is in _tx_drivers.
"""

from __future__ import annotations

import functools
import re
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterable, List, Optional, Sequence, TypeVar, Union, cast

from cairn import _sqlites, _tx_drivers
from cairn._codec import DEFAULT
from cairn._request import check_metadata, check_tags
from cairn._tx_drivers import Driver, Statement
from cairn._tx_function import Definition, definition_of
from cairn._words import UNSET, Duration, Time, Unset, to_ms, to_time, to_us
from cairn.errors import BadInput, NotFound, SchemaNewer, SchemaOlder, TooLarge

if TYPE_CHECKING:
    from cairn import Backoff, FunctionType, JobSpec, TaskType

P = TypeVar("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Rows = Sequence[Sequence[Any]]
Plan = Generator[Statement, Rows, T]

# The version of SQLite's tables that these statements were written for, and what came with which version.
_SCHEMA = 37
_METADATA_SCHEMA = 8
_INTAKE_SCHEMA = 9
_TAGS_SCHEMA = 21
_LIMITS_SCHEMA = 24
_GROUP_SCHEMA = 31
_START_GROUP_SCHEMA = 34
_OPEN_ONCE = "open the store once: cairn.open(url).close()"
_MAX_NAME = 256
_MAX_PAYLOAD = 1 << 20
_MAX_INT = (1 << 31) - 1


@dataclass(frozen=True)
class TxId:
    """What was recorded; ``existing``: the key was known, and nothing was written.

    >>> made = TxId("018f...", existing=False)
    >>> made.existing, str(made)
    (False, '018f...')
    """

    id: str
    existing: bool

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class _Job:
    """A job, checked and encoded."""

    type: str
    payload: str
    key: Optional[str]
    priority: int
    max_attempts: int
    at: Optional[Time]
    delay_ms: Optional[int]
    metadata: Optional[str]
    tags: Optional[str]
    timeout_ms: Optional[int] = None
    retry: Optional[str] = None
    group: str = ""


@dataclass(frozen=True)
class _Start:
    workflow: str
    version: int
    input: str
    key: Optional[str]
    at: Optional[Time]
    delay_ms: Optional[int]
    metadata: Optional[str]
    tags: Optional[str]
    group: str
    definition: Optional[Definition]  # of a function, which is deployed if it is missing


def _name(field: str, text: str) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size == 0 or "\0" in text:
        raise BadInput(f"{field} must be a text that is not empty")
    if size > _MAX_NAME:
        raise TooLarge(f"{field} is too long", detail=f"{size} bytes, {_MAX_NAME} are allowed")
    return text


def _payload(field: str, value: Any) -> str:
    text = "{}" if value is UNSET else DEFAULT.encode(value)
    size = len(text.encode())
    if size > _MAX_PAYLOAD:
        raise TooLarge(f"{field} is too large", detail=f"{size} bytes, {_MAX_PAYLOAD} are allowed")
    if "\\u0000" in text and re.search(r"(?<!\\)(?:\\\\)*\\u0000", text):
        raise BadInput(f"{field} has a NUL character, which cannot be stored")
    return text


def _number(field: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not least <= value <= _MAX_INT:
        raise BadInput(f"{field} must be from {least} to {_MAX_INT}")
    return value


def _object(value: Optional[Dict[str, Any]]) -> Optional[str]:
    return DEFAULT.encode(value) if value else None


def _check_times(at: Optional[Time], delay: Any) -> None:
    if at is not None and delay is not None:
        raise ValueError("at and delay exclude each other")


def _job(task: Any, payload: Any, key: Optional[str], priority: int, max_attempts: int, at: Optional[Time],
         delay: Any = None, metadata: Optional[Dict[str, Any]] = None, tags: Optional[Dict[str, str]] = None,
         timeout: Any = None, retry: Any = None, group: str = "") -> _Job:
    _check_times(at, delay)
    return _Job(_name("type", str(task)), _payload("payload", payload), None if key is None else _name("key", key),
                _number("priority", priority, -_MAX_INT - 1), _number("max_attempts", max_attempts, 1), at,
                None if delay is None else to_ms(delay), _object(check_metadata(metadata)),
                _object(check_tags(tags)), None if timeout is None else to_ms(timeout),
                None if retry is None else DEFAULT.encode(retry.members()), group)


def _job_of_spec(spec: "JobSpec") -> _Job:
    if spec.on_existing not in (None, "return") or spec.debounce is not None:
        raise BadInput("on_existing and debounce are not for a transaction of your own")
    return _job(spec.task, spec.payload, spec.key, spec.priority, spec.max_attempts, spec.at, spec.delay,
                spec.metadata, spec.tags, spec.timeout, spec.retry, spec.group)


# ---- PostgreSQL -----------------------------------------------------------------------------------


class _Postgres:
    """Values are cast from text, because drivers differ in how they send JSON, times and UUIDs."""

    def __init__(self, schema: str) -> None:
        self._schema = '"' + schema.replace('"', '""') + '"'

    def check(self) -> Plan[None]:
        return
        yield

    def enqueue(self, job: _Job) -> Plan[TxId]:
        given = {"id": str(uuid.uuid4()), "type": job.type, "payload": job.payload, "key": job.key,
                 "priority": job.priority, "max_attempts": job.max_attempts,
                 "run_at": None if job.at is None else to_time(job.at), "delay": (job.delay_ms or 0) / 1000}
        column, value = "", ""
        if job.metadata is not None:  # tables of an older version lack the column
            column, value, given["metadata"] = ", metadata", ", CAST(CAST(:metadata AS text) AS jsonb)", job.metadata
        if job.tags is not None:
            column, value, given["tags"] = column + ", tags", value + ", CAST(CAST(:tags AS text) AS jsonb)", job.tags
        if job.timeout_ms is not None:
            column, value, given["timeout_ms"] = column + ", timeout_ms", value + ", CAST(:timeout_ms AS bigint)", job.timeout_ms
        if job.retry is not None:
            column, value, given["retry"] = column + ", retry", value + ", CAST(CAST(:retry AS text) AS jsonb)", job.retry
        if job.group:
            column, value, given["group"] = column + ', "group"', value + ", CAST(:group AS text)", job.group
        rows = yield Statement(
            f"INSERT INTO {self._schema}.workflow_run"
            f" (id, type, payload, idempotency_key, priority, max_attempts, run_at{column})"
            " VALUES (CAST(CAST(:id AS text) AS uuid), CAST(:type AS text), CAST(CAST(:payload AS text) AS jsonb),"
            " CAST(:key AS text), CAST(:priority AS integer), CAST(:max_attempts AS integer),"
            " coalesce(CAST(CAST(:run_at AS text) AS timestamptz),"
            f" now() + CAST(:delay AS double precision) * interval '1 second'){value})"
            " ON CONFLICT (idempotency_key) DO NOTHING RETURNING CAST(id AS text)", given, has_rows=True)
        if rows:
            return TxId(str(rows[0][0]), existing=False)
        rows = yield Statement(f"SELECT CAST(id AS text) FROM {self._schema}.workflow_run"
                               " WHERE idempotency_key = CAST(:key AS text)", {"key": job.key}, has_rows=True)
        return TxId(str(rows[0][0]), existing=True)

    def start(self, start: _Start) -> Plan[TxId]:
        if start.definition is not None:
            yield from self._define(start.definition)
        given: Dict[str, Any] = {"id": str(uuid.uuid4()), "workflow": start.workflow, "input": start.input, "key": start.key,
                 "version": start.version, "start_at": None if start.at is None else to_time(start.at)}
        at, more = "CAST(CAST(:start_at AS text) AS timestamptz)", ""
        if start.delay_ms is not None:
            at, given["delay"] = "now() + CAST(:delay AS double precision) * interval '1 second'", start.delay_ms / 1000
            del given["start_at"]
        if start.metadata is not None:
            more, given["metadata"] = more + ", metadata => CAST(CAST(:metadata AS text) AS jsonb)", start.metadata
        if start.tags is not None:
            more, given["tags"] = more + ", tags => CAST(CAST(:tags AS text) AS jsonb)", start.tags
        if start.group:
            more, given["group"] = more + ', "group" => CAST(:group AS text)', start.group
        try:
            rows = yield Statement(
                f"SELECT CAST({self._schema}.start(workflow => CAST(:workflow AS text),"
                " input => CAST(CAST(:input AS text) AS jsonb), key => CAST(:key AS text),"
                f" version => CAST(:version AS integer), start_at => {at},"
                f" id => CAST(CAST(:id AS text) AS uuid){more}) AS text)", given, has_rows=True)
        except Exception as error:
            if _sqlstate(error) == "23503":
                raise _unknown_workflow(start) from error
            raise
        return TxId(str(rows[0][0]), existing=rows[0][0] != given["id"])

    def _define(self, definition: Definition) -> Plan[None]:
        """A role that may not write definitions leaves that to the workers; an error would end the transaction."""
        table = f"{self._schema}.workflow_definition"
        rows = yield Statement("SELECT has_table_privilege(:table, 'SELECT') AND has_table_privilege(:table, 'INSERT')",
                               {"table": table}, has_rows=True)
        if not rows[0][0]:
            return
        given: Dict[str, Any] = {"name": definition.name, "version": definition.version}
        find = Statement(f"SELECT hash FROM {table} WHERE name = CAST(:name AS text) AND version = CAST(:version AS integer)",
                         given, has_rows=True)
        rows = yield find
        if not rows:
            yield Statement(
                f"INSERT INTO {table} (name, version, hash, content, created_at) VALUES (CAST(:name AS text),"
                " CAST(:version AS integer), CAST(:hash AS text), CAST(CAST(:content AS text) AS json), now())"
                " ON CONFLICT DO NOTHING", {**given, "hash": definition.hash, "content": definition.content},
                has_rows=False)
            rows = yield find
        definition.check_same(rows)


def _sqlstate(error: BaseException) -> Optional[str]:
    """Of a driver's error, or of the one that SQLAlchemy or Django has wrapped."""
    for one in (error, getattr(error, "orig", None), error.__cause__,
                getattr(getattr(error, "orig", None), "__cause__", None)):
        state = getattr(one, "sqlstate", None) or getattr(one, "pgcode", None)
        if state:
            return str(state)
    return None


def _unknown_workflow(start: _Start) -> NotFound:
    version = f", version {start.version}," if start.version else ""
    return NotFound(f'workflow "{start.workflow}"{version} does not exist', hint="deploy it before it is started")


# ---- SQLite ---------------------------------------------------------------------------------------


class _SQLite:
    """Does what PostgreSQL's triggers do: the event of a job, and whether it is due."""

    _version = 0

    def check(self) -> Plan[None]:
        rows = yield Statement("PRAGMA database_list", {}, has_rows=True)
        _sqlites.refuse_second(next((str(row[2]) for row in rows if row[1] == "main" and row[2]), None))
        rows = yield Statement("PRAGMA table_info(workflow_migration)", {}, has_rows=True)
        columns = [row[1] for row in rows]
        if not columns:
            raise SchemaOlder("the database has no tables of Cairn", hint=_OPEN_ONCE)
        rows = yield Statement("SELECT max(number) FROM workflow_migration", {}, has_rows=True)
        self._version = int(rows[0][0] or 0)
        if "oldest" in columns:  # a migration may say that older programs must not write any more
            rows = yield Statement("SELECT max(oldest) FROM workflow_migration", {}, has_rows=True)
            if (rows[0][0] or 0) > _SCHEMA:
                raise SchemaNewer(f"the tables need version {rows[0][0]} or newer, and this package knows {_SCHEMA}",
                                  hint="use a newer cairn-sdk")

    def _need(self, version: int) -> None:
        if self._version < version:
            raise SchemaOlder(f"the tables are of version {self._version}, and this needs {version}", hint=_OPEN_ONCE)

    def enqueue(self, job: _Job) -> Plan[TxId]:
        now = time.time_ns() // 1000
        run_at = to_us(job.at) if job.at is not None else now + (job.delay_ms or 0) * 1000
        id = str(uuid.uuid4())
        given = {"id": id, "type": job.type, "payload": job.payload, "key": job.key, "priority": job.priority,
                 "max_attempts": job.max_attempts, "run_at": run_at, "now": now}
        column, value = "", ""
        if job.metadata is not None:
            self._need(_METADATA_SCHEMA)
            column, value, given["metadata"] = ", metadata", ", :metadata", job.metadata
        if job.tags is not None:
            self._need(_TAGS_SCHEMA)
            column, value, given["tags"] = column + ", tags", value + ", :tags", job.tags
        if job.timeout_ms is not None or job.retry is not None:
            self._need(_LIMITS_SCHEMA)
            column, value = column + ", timeout_ms, retry", value + ", :timeout_ms, :retry"
            given.update(timeout_ms=job.timeout_ms, retry=job.retry)
        if job.group:
            self._need(_GROUP_SCHEMA)
            column, value, given["group"] = column + ', "group"', value + ", :group", job.group
        yield Statement(
            "INSERT INTO workflow_run"
            f" (id, type, payload, idempotency_key, priority, max_attempts, run_at, is_ready{column})"
            f" VALUES (:id, :type, :payload, :key, :priority, :max_attempts, :run_at, :run_at <= :now{value})"
            " ON CONFLICT (idempotency_key) DO NOTHING", given, has_rows=False)
        if job.key is not None:
            rows = yield Statement("SELECT id FROM workflow_run WHERE idempotency_key = :key", {"key": job.key},
                                   has_rows=True)
            if rows[0][0] != id:
                return TxId(str(rows[0][0]), existing=True)
        yield Statement("INSERT INTO workflow_event (workflow_id, event_type, data) VALUES (:id, 'created', '{}')",
                        {"id": id}, has_rows=False)
        return TxId(id, existing=False)

    def start(self, start: _Start) -> Plan[TxId]:
        self._need(_INTAKE_SCHEMA)
        id, column, value = str(uuid.uuid4()), "", ""
        if start.definition is not None:
            yield from self._define(start.definition)
        start_at = None if start.at is None else to_us(start.at)
        if start.delay_ms is not None:
            start_at = time.time_ns() // 1000 + start.delay_ms * 1000
        given = {"id": id, "workflow": start.workflow, "version": start.version, "input": start.input,
                 "key": start.key, "start_at": start_at}
        if start.metadata is not None:
            column, value, given["metadata"] = column + ", metadata", value + ", :metadata", start.metadata
        if start.tags is not None:
            self._need(_TAGS_SCHEMA)
            column, value, given["tags"] = column + ", tags", value + ", :tags", start.tags
        if start.group:
            self._need(_START_GROUP_SCHEMA)
            column, value, given["group"] = column + ', "group"', value + ", :group", start.group
        try:
            yield Statement(
                f"INSERT INTO workflow_intake (id, workflow, version, input, key, start_at{column})"
                f" VALUES (:id, :workflow, :version, :input, :key, :start_at{value}) ON CONFLICT DO NOTHING",
                given, has_rows=False)
        except Exception as error:
            if "the workflow, or this version of it, does not exist" in str(error):
                raise _unknown_workflow(start) from error
            raise
        if start.key is None:
            return TxId(id, existing=False)
        rows = yield Statement(
            "SELECT id FROM workflow_instance WHERE workflow = :workflow AND key = :key"
            " UNION ALL SELECT id FROM workflow_intake WHERE workflow = :workflow AND key = :key",
            {"workflow": start.workflow, "key": start.key}, has_rows=True)
        return TxId(str(rows[0][0]), existing=rows[0][0] != id)

    def _define(self, definition: Definition) -> Plan[None]:
        given: Dict[str, Any] = {"name": definition.name, "version": definition.version}
        find = Statement("SELECT hash FROM workflow_definition WHERE name = :name AND version = :version", given,
                         has_rows=True)
        rows = yield find
        if not rows:
            yield Statement(
                "INSERT INTO workflow_definition (name, version, hash, content, created_at)"
                " VALUES (:name, :version, :hash, :content, :now) ON CONFLICT DO NOTHING",
                {**given, "hash": definition.hash, "content": definition.content, "now": time.time_ns() // 1000},
                has_rows=False)
            rows = yield find
        definition.check_same(rows)


class _Plans:
    """What ``Tx`` and its asyncio twin do alike."""

    def __init__(self, driver: Driver, schema: str) -> None:
        self._driver = driver
        self._schema = schema
        self._dialect: Union[None, _Postgres, _SQLite] = None

    def _ready(self) -> Plan[Union[_Postgres, _SQLite]]:
        """The dialect.  A store is checked once, by the first call: a driver may only then have a connection."""
        if self._dialect is None:
            dialect = _SQLite() if self._driver.dialect == "sqlite" else _Postgres(self._schema)
            yield from dialect.check()
            self._dialect = dialect
        return self._dialect

    def _enqueue(self, jobs: List[_Job]) -> Plan[List[TxId]]:
        dialect = yield from self._ready()
        ids: List[TxId] = []
        for job in jobs:
            ids.append((yield from dialect.enqueue(job)))
        return ids

    def _start(self, start: _Start) -> Plan[TxId]:
        dialect = yield from self._ready()
        return (yield from dialect.start(start))


def _start_of(workflow: Any, input: Any, version: int, key: Optional[str], at: Optional[Time], delay: Any,
              metadata: Optional[Dict[str, Any]], tags: Optional[Dict[str, str]], group: Optional[str]) -> _Start:
    _check_times(at, delay)
    name = str(getattr(workflow, "name", workflow))
    definition = None
    if not isinstance(workflow, str):
        version = version or workflow.version
        definition = definition_of(workflow) if version == workflow.version else None
    return _Start(_name("workflow", name), _number("version", version, 0), _payload("input", input),
                  None if key is None else _name("key", key), at, None if delay is None else to_ms(delay),
                  _object(check_metadata(metadata)), _object(check_tags(tags)), _name("group", group) if group else "",
                  definition)


def _plain(method: F) -> F:
    """Says why two options of the engine are missing here."""

    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        for name in ("on_existing", "debounce"):
            if name in options:
                raise TypeError(f"{name} is not for a transaction of your own: it needs the engine (Engine.{method.__name__})")
        return method(*args, **options)

    return cast(F, call)


class Tx(_Plans):
    """Records jobs in the transaction that is open on a connection; ``tx()`` gives one.

    It only executes statements: it never commits, rolls back or sets a savepoint.
    """

    def _run(self, plan: Plan[T]) -> T:
        try:
            statement = next(plan)
            while True:
                try:
                    rows = self._driver.execute(statement)
                except Exception as error:
                    statement = plan.throw(error)
                else:
                    statement = plan.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result

    @_plain
    def enqueue(self, task: "Union[str, TaskType[P, Any]]", payload: "Union[P, Unset]" = UNSET, *,
                key: Optional[str] = None, priority: int = 100, max_attempts: int = 3, at: Optional[Time] = None,
                delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
                tags: Optional[Dict[str, str]] = None, timeout: Optional[Duration] = None,
                retry: Optional[Backoff] = None, group: str = "") -> TxId:
        """Records a job; it is executed after your transaction has committed, and not at all if it rolls back.

        The options are those of ``Engine.enqueue``, but for ``on_existing`` and ``debounce``, which need the engine.

        >>> import os, sqlite3, tempfile, cairn
        >>> file = os.path.join(tempfile.mkdtemp(), "shop.db")
        >>> cairn.open("sqlite:" + file).close()            # makes the tables
        >>> shop = sqlite3.connect(file)
        >>> with shop:
        ...     cairn.tx(shop).enqueue("billing.invoice.v1", {"order": 17}, key="invoice-17").existing
        ...     cairn.tx(shop).enqueue("billing.invoice.v1", {"order": 17}, key="invoice-17").existing
        False
        True
        >>> shop.close()
        """
        return self._run(self._enqueue([_job(task, payload, key, priority, max_attempts, at, delay, metadata, tags,
                                            timeout, retry, group)]))[0]

    def enqueue_many(self, specs: "Iterable[JobSpec]") -> List[TxId]:
        """Records several jobs, one after the other, in your transaction.

        >>> import os, sqlite3, tempfile, cairn
        >>> file = os.path.join(tempfile.mkdtemp(), "shop.db")
        >>> cairn.open("sqlite:" + file).close()
        >>> shop = sqlite3.connect(file)
        >>> with shop:
        ...     len(cairn.tx(shop).enqueue_many(cairn.JobSpec("mail.v1", n) for n in range(3)))
        3
        >>> shop.close()
        """
        return self._run(self._enqueue([_job_of_spec(spec) for spec in specs]))

    @_plain
    def start(self, workflow: "Union[str, FunctionType[P, Any]]", input: "Union[P, Unset]" = UNSET, *,
              version: int = 0, key: Optional[str] = None, at: Optional[Time] = None,
              delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
              tags: Optional[Dict[str, str]] = None, group: Optional[str] = None) -> TxId:
        """Starts an instance of a workflow when your transaction commits; NotFound if there is no such workflow.

        A function that the store does not know is deployed by the same transaction; Misuse if it is known with other
        content.

        Any engine that has the store open turns it into the instance with this id, within a second.

        >>> import os, sqlite3, tempfile, cairn
        >>> file = os.path.join(tempfile.mkdtemp(), "shop.db")
        >>> with cairn.open("sqlite:" + file) as db:
        ...     _ = db.deploy("{workflow: order, version: 1, steps: [{step: ship}]}")
        >>> shop = sqlite3.connect(file)
        >>> with shop:
        ...     made = cairn.tx(shop).start("order", {"item": "book"}, key="order-17")
        >>> shop.close()
        >>> with cairn.open("sqlite:" + file) as db:
        ...     db.instance(made.id).get().input
        {'item': 'book'}
        """
        return self._run(self._start(_start_of(workflow, input, version, key, at, delay, metadata, tags, group)))


class AsyncTx(_Plans):
    """The same for asyncio drivers; ``cairn.aio.tx()`` gives one."""

    async def _run(self, plan: Plan[T]) -> T:
        try:
            statement = next(plan)
            while True:
                try:
                    rows = await self._driver.execute_async(statement)
                except Exception as error:
                    statement = plan.throw(error)
                else:
                    statement = plan.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result

    @_plain
    async def enqueue(self, task: "Union[str, TaskType[P, Any]]", payload: "Union[P, Unset]" = UNSET, *,
                      key: Optional[str] = None, priority: int = 100, max_attempts: int = 3, at: Optional[Time] = None,
                      delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
                      tags: Optional[Dict[str, str]] = None, timeout: Optional[Duration] = None,
                      retry: Optional[Backoff] = None, group: str = "") -> TxId:
        """Records a job, as ``Tx.enqueue()``."""
        return (await self._run(self._enqueue([_job(task, payload, key, priority, max_attempts, at, delay, metadata, tags,
                                                    timeout, retry, group)])))[0]

    async def enqueue_many(self, specs: "Iterable[JobSpec]") -> List[TxId]:
        """Records several jobs, as ``Tx.enqueue_many()``."""
        return await self._run(self._enqueue([_job_of_spec(spec) for spec in specs]))

    @_plain
    async def start(self, workflow: "Union[str, FunctionType[P, Any]]", input: "Union[P, Unset]" = UNSET, *,
                    version: int = 0, key: Optional[str] = None, at: Optional[Time] = None,
                    delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
                    tags: Optional[Dict[str, str]] = None, group: Optional[str] = None) -> TxId:
        """Starts an instance of a workflow, as ``Tx.start()``."""
        return await self._run(self._start(_start_of(workflow, input, version, key, at, delay, metadata, tags, group)))


def tx(connection: Any, *, schema: str = "workflow") -> Tx:
    """Records jobs through your own connection, so that they are committed with your rows or not at all.

    ``connection`` is a connection or cursor of psycopg or psycopg2, a ``Connection`` or ``Session`` of
    SQLAlchemy, Django's ``connection``, or an ``sqlite3.Connection``.  No engine is needed.

    >>> import cairn
    >>> cairn.tx("postgres://...")
    Traceback (most recent call last):
        ...
    TypeError: cairn.tx() does not know connections of builtins.str
    """
    return Tx(_tx_drivers.find(connection, is_async=False), schema)


def async_tx(connection: Any, *, schema: str = "workflow") -> AsyncTx:
    """``cairn.aio.tx``: the same for psycopg's ``AsyncConnection``, SQLAlchemy's async ones, and asyncpg.

    >>> import cairn.aio
    >>> cairn.aio.tx("postgres://...")
    Traceback (most recent call last):
        ...
    TypeError: cairn.aio.tx() does not know connections of builtins.str
    """
    return AsyncTx(_tx_drivers.find(connection, is_async=True), schema)


