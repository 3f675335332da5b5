# SPDX-License-Identifier: Apache-2.0
"""The engine: recording, starting, looking and controlling."""

from __future__ import annotations

import atexit
import builtins
import json
import os
import threading
import warnings
import weakref
from datetime import datetime, timedelta
from typing import (
    TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NoReturn, Optional, Tuple, Type, TypeVar, Union, cast, overload,
)

from cairn import errors
from cairn._codec import DEFAULT, Codec
from cairn._handles import InstanceHandle, JobHandle
from cairn._loops import refuse_on_loop
from cairn._request import PAGE, When, body_of, check_metadata, check_tags, chunks, encode, read, tag_filter, target
from cairn._rows import (
    Definition, Deployed, DlqRecord, Finding, Instance, Job, Limit, OutboxEvent, RegistryEntry, Schedule, StreamEvent,
    decode_value, read_row,
)
from cairn._types import FunctionType, JobSpec, TaskType, result_type
from cairn._words import UNSET, Duration, Json, OnExisting, Time, Unset, from_time, read_json, to_ms, to_time, to_us
from cairn._workflow import Backoff

if TYPE_CHECKING:
    from cairn._app import App
    from cairn._ffi import Native
    from cairn._worker import Worker
    from cairn._workflow import Workflow
    from cairn.aio import AsyncEngine

P = TypeVar("P")
R = TypeVar("R")
Row = TypeVar("Row")

_FOLLOW = 0.25  # seconds between looks for new events


_open_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """When the program ends: no worker may keep it from ending, and no task may wait for its lease to end."""
    for engine in list(_open_engines):
        engine.close_within(0)


def open(url: Optional[str] = None, *, token: Optional[str] = None, seed: int = 0, virtual_clock: bool = False,
         start: Optional[Time] = None, migrate: bool = True, timers: bool = True, retry: Duration = 10,
         max_payload: int = 1 << 20, max_batch: int = 1000, codec: Optional[Codec] = None) -> "Engine":
    """Opens a store: ``sqlite:FILE``, ``postgres://...``, ``http://...`` or ``memory:``.

    Without a URL it is ``$CAIRN_URL``, else ``sqlite:cairn.db``.  Tables are created, and migrated unless
    ``migrate`` is False.  Calls wait for ``retry`` if the store cannot be reached.  ``seed``,
    ``virtual_clock`` and ``start`` are for tests.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     db.url
    'memory:'
    """
    return _open(url, token, seed, virtual_clock, start, migrate, timers, retry, max_payload, max_batch, codec, None)


def open_trial(url: str, seed: int, start: Time, faults: Dict[str, Any]) -> "Engine":
    """For ``cairn.testing``: an engine with a virtual clock whose calls of handlers go wrong."""
    return _open(url, None, seed, True, start, True, True, 10, 1 << 20, 1000, None, {"seed": seed, **faults})


def _open(url: Optional[str], token: Optional[str], seed: int, virtual_clock: bool, start: Optional[Time], migrate: bool,
          timers: bool, retry: Duration, max_payload: int, max_batch: int, codec: Optional[Codec],
          trial: Optional[Dict[str, Any]]) -> "Engine":
    from cairn._ffi import Native

    options: Dict[str, Any] = {
        "url": None if url is None else url.encode(), "token": None if token is None else token.encode(),
        "seed": seed, "virtual_clock": virtual_clock, "start_us": 0 if start is None else to_us(start),
        "no_migrate": not migrate, "no_timers": not timers, "retry_ms": min(to_ms(retry), (1 << 32) - 1),
        "max_payload": max_payload, "max_batch": max_batch}
    return Engine(Native(options, trial), DEFAULT if codec is None else codec, max_batch)


class Engine:
    """An open store, shared freely between threads.  Use it in ``with``, or call ``close()``.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue("mail.send.v1", {"to": "ann"}, key="welcome-ann")
    ...     [found.type for found in db.jobs(status="pending")]
    ['mail.send.v1']
    >>> db.stats()
    Traceback (most recent call last):
        ...
    cairn.errors.Closed: the engine is closed
    """

    def __init__(self, native: "Native", codec: Codec, max_batch: int) -> None:
        self.url: str = native.url
        self.native = native
        self.codec = codec
        self.max_batch = max_batch
        self._workers: "weakref.WeakSet[Worker]" = weakref.WeakSet()
        self._is_closing = threading.Event()
        self._aio: "Optional[AsyncEngine]" = None
        _open_engines.add(self)

    # ---- its life

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        native: "Optional[Native]" = getattr(self, "native", None)
        if native is not None and not native.is_closed and not native.is_forked:
            warnings.warn(f"unclosed engine {self.url!r}", ResourceWarning, source=self)
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine cannot be pickled: open one in each process")

    def __repr__(self) -> str:
        return f"<engine {self.url!r}{', closed' if self.native.is_closed else ''}>"

    @property
    def aio(self) -> "AsyncEngine":
        """The same engine, with calls as coroutines."""
        if self._aio is None:
            from cairn.aio import AsyncEngine

            self._aio = AsyncEngine(self)
        return self._aio

    def close(self) -> None:
        """Stops the engine's workers, waits for calls under way, and closes the store.  Idempotent."""
        self.close_within(UNSET)

    def close_within(self, grace: "Union[None, Duration, Unset]") -> None:
        """For the package: the same with another grace for handlers."""
        if self.native.is_forked:
            return
        self._is_closing.set()
        for worker in list(self._workers):
            worker.stop(grace)
        self.native.close()
        if self._aio is not None:
            self._aio.shut_down()

    # ---- calls

    def call(self, method: str, target: str, body: Json = UNSET) -> Tuple[int, Json]:
        """Any route of ``openapi.json``: the status and the answer.  A status never raises.

        >>> import cairn
        >>> with cairn.open("memory:") as db:
        ...     db.call("GET", "/v1/jobs/none")[0], db.call("GET", "/healthz")
        (404, (200, {'status': 'ok'}))
        """
        text = None if isinstance(body, Unset) else json.dumps(body, ensure_ascii=False).encode()
        status, answer = self.native.call(method, target, text)
        try:
            return status, read_json(answer) if answer else None
        except ValueError:
            return status, answer.decode(errors="replace")

    def ask(self, method: str, target: str, body: Optional[bytes] = None) -> Json:
        """For the package: the answer, or the error as an exception."""
        return read(*self.native.call(method, target, body))

    def pages(self, row: Type[Row], *path: str, limit: Optional[int] = None, **query: Any) -> Iterator[Row]:
        """For the package: the rows of a list, fetched as they are consumed."""
        cursor: Optional[str] = None
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            page = self.ask("GET", target(*path, limit=size, cursor=cursor, **query))
            for item in page["items"]:
                yield read_row(row, item, self.codec)
            left = None if left is None else left - len(page["items"])
            cursor = page["next"]
            if cursor is None:
                return

    def decode_again(self, value: Json, type: Any) -> Any:
        """For the package: a payload that was decoded as plain JSON, as an annotation says."""
        if type is Any:
            return value
        return decode_value(self.codec, value, type) if self.codec is DEFAULT else self._recode(value, type)

    def _recode(self, value: Json, type: Any) -> Any:
        return self.codec.decode(self.codec.encode(value), type)

    def now(self) -> datetime:
        """The time of the store's clock."""
        found = from_time(self.ask("GET", "/v1/clock")["now"])
        assert found is not None
        return found

    def _at(self, when: When) -> Optional[str]:
        if when.delay_ms is None:
            return when.at
        return to_time(self.now() + timedelta(milliseconds=when.delay_ms)) if when.delay_ms else None

    # ---- jobs

    @overload
    def enqueue(self, task: str, payload: Any = ..., *, key: Optional[str] = ..., priority: int = ...,
                max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
                timeout: Optional[Duration] = ..., retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                debounce: Optional[Duration] = ..., group: str = ...) -> JobHandle[Any]: ...

    @overload
    def enqueue(self, task: TaskType[P, R], payload: P = ..., *, key: Optional[str] = ..., priority: int = ...,
                max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
                timeout: Optional[Duration] = ..., retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                debounce: Optional[Duration] = ..., group: str = ...) -> JobHandle[R]: ...

    def enqueue(self, task: Union[str, TaskType[Any, Any]], payload: Any = UNSET, *, key: Optional[str] = None,
                priority: int = 100, max_attempts: int = 3, at: Optional[Time] = None,
                delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
                tags: Optional[Dict[str, str]] = None, timeout: Optional[Duration] = None,
                retry: Optional[Backoff] = None, on_existing: Optional[OnExisting] = None,
                debounce: Optional[Duration] = None, group: str = "") -> JobHandle[Any]:
        """Records a job: when this returns, it will be executed even if this process dies.

        A second job with the same key is not recorded, unless ``on_existing`` says otherwise: ``"fail"`` raises
        Conflict, ``"restart_failed"`` retries the earlier job if it has failed, ``"new_if_ended"`` takes the key
        from an earlier job that has ended.  With ``debounce`` a job runs this long after it was enqueued last, with
        the last payload: a pending job with the key is moved back.  Lower priorities go first; ``max_attempts`` counts
        all calls of the handler.  A payload that is not given is ``{}``.  ``jobs(tags=...)`` finds it by its tags.
        A call that takes longer than ``timeout`` has failed.  ``retry`` says how long to wait before the next one;
        the delay grows quadratically from a minute if it is not given.  Groups of a type take turns (``limit_put``).

        >>> import cairn
        >>> with cairn.open("memory:") as db:
        ...     db.enqueue("mail.send.v1", {"to": "ann"}, delay="1h").status()
        'pending'
        """
        spec: JobSpec = JobSpec(cast(str, task), payload, key=key, priority=priority, max_attempts=max_attempts,
                                at=at, delay=delay, metadata=metadata, tags=tags, timeout=timeout, retry=retry,
                                on_existing=on_existing, debounce=debounce, group=group)
        answer = self.ask("POST", "/v1/jobs", self._job_body(spec))
        return JobHandle(self, answer["id"], result_type(task), answer["existing"])

    def _job_body(self, spec: JobSpec) -> bytes:
        return body_of({"type": spec.type, "key": spec.key, "priority": spec.priority,
                        "max_attempts": spec.max_attempts, "run_at": self._at(When(spec.at, spec.delay)),
                        "metadata": check_metadata(spec.metadata), "tags": check_tags(spec.tags),
                        "timeout_ms": None if spec.timeout is None else to_ms(spec.timeout),
                        "retry": None if spec.retry is None else spec.retry.members(),
                        "on_existing": spec.on_existing,
                        "debounce_ms": None if spec.debounce is None else to_ms(spec.debounce),
                        "group": spec.group or None},
                       ("payload", encode(self.codec, spec.payload)))

    def enqueue_many(self, specs: Iterable[JobSpec]) -> List[JobHandle[Any]]:
        """Records many jobs, in one commit for each ``max_batch`` of them: all of a commit, or none."""
        handles: List[JobHandle[Any]] = []
        for part in chunks(list(specs), self.max_batch):
            body = b'{"jobs":[' + b",".join([self._job_body(spec) for spec in part]) + b"]}"
            answer = self.ask("POST", "/v1/jobs", body)
            handles.extend(JobHandle(self, item["id"], result_type(spec.task), item["existing"])
                           for spec, item in zip(part, answer["items"]))
        return handles

    def job(self, id: str, result: Type[R] = cast(Any, Any)) -> JobHandle[R]:
        """A handle of a job whose id is known; no request is made."""
        return JobHandle(self, id, result)

    def jobs(self, *, status: Optional[str] = None, type: Optional[str] = None, key: Optional[str] = None,
             tags: Optional[Dict[str, str]] = None, limit: Optional[int] = None) -> Iterator[Job]:
        """Jobs that match, newest first.  ``type`` may be a prefix that ends in ``%``; ``tags``: with all of these."""
        return self.pages(Job, "jobs", limit=limit, status=status, type=type, key=key, tag=tag_filter(tags))

    # ---- workflows

    def deploy(self, workflow: "Union[str, Workflow]") -> Deployed:
        """Deploys a workflow: the text of a file, or a builder.  Conflict if the version has other content.

        >>> import cairn
        >>> with cairn.open("memory:") as db:
        ...     db.deploy("order.yaml")
        Traceback (most recent call last):
        cairn.errors.Misuse: "order.yaml" is the name of a file, not its text: deploy_file() reads it
        """
        if isinstance(workflow, str) and workflow.endswith((".yaml", ".yml", ".json")) and "\n" not in workflow:
            raise errors.Misuse(f'"{workflow}" is the name of a file, not its text: deploy_file() reads it')
        return self._deploy(workflow if isinstance(workflow, str) else workflow.text(), "workflow")

    def deploy_file(self, path: "Union[str, os.PathLike[str]]") -> Deployed:
        """Deploys a workflow file, YAML or JSON."""
        with builtins.open(path, encoding="utf-8") as file:
            return self._deploy(file.read(), os.path.basename(os.fspath(path)))

    def deploy_function(self, function: FunctionType[Any, Any]) -> Deployed:
        """Deploys a function, as a worker does when it starts.  Conflict if the version has other content.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.function("greet")
        ... def greet(ctx: cairn.Context) -> None: ...
        >>> with cairn.open("memory:") as db:
        ...     db.deploy_function(greet).version
        1
        """
        text = json.dumps({"function": function.name, "version": function.version, "dlq": function.dlq,
                           "max_attempts": function.max_attempts})
        return self._deploy(text, function.name, only="function")

    def _deploy(self, text: str, file: str, only: Optional[str] = None) -> Deployed:
        answer = self.ask("POST", target("workflows", only=only, file=file), text.encode())
        return read_row(Deployed, answer, self.codec)

    def workflows(self) -> Iterator[Definition]:
        """Deployed workflows and functions, by name and version."""
        return self.pages(Definition, "workflows")

    @overload
    def start(self, workflow: str, input: Any = ..., *, version: int = ..., key: Optional[str] = ...,
              at: Optional[Time] = ..., delay: Optional[Duration] = ...,
              metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
              on_existing: Optional[OnExisting] = ..., group: Optional[str] = ...) -> InstanceHandle[Any]: ...

    @overload
    def start(self, workflow: FunctionType[P, R], input: P = ..., *, version: int = ..., key: Optional[str] = ...,
              at: Optional[Time] = ..., delay: Optional[Duration] = ...,
              metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
              on_existing: Optional[OnExisting] = ..., group: Optional[str] = ...) -> InstanceHandle[R]: ...

    def start(self, workflow: Union[str, FunctionType[Any, Any]], input: Any = UNSET, *, version: int = 0,
              key: Optional[str] = None, at: Optional[Time] = None, delay: Optional[Duration] = None,
              metadata: Optional[Dict[str, Any]] = None, tags: Optional[Dict[str, str]] = None,
              on_existing: Optional[OnExisting] = None, group: Optional[str] = None) -> InstanceHandle[Any]:
        """Starts an instance of a workflow or function; a function that the store does not know is deployed.

        Version 0 is the highest, or of a function its own.  A second instance with the same key is not started,
        unless ``on_existing`` says otherwise: as for ``enqueue``; ``"restart_failed"`` restarts a failed instance.
        ``group`` is that of its tasks: groups of a type take turns, and limits can count each by itself.
        """
        function = workflow if isinstance(workflow, FunctionType) else None
        wanted = version or (function.version if function else 0)
        body = body_of({"workflow": str(workflow), "version": wanted or None, "key": key,
                        "start_at": self._at(When(at, delay)), "metadata": check_metadata(metadata),
                        "tags": check_tags(tags), "on_existing": on_existing, "group": group},
                       ("input", encode(self.codec, input)))
        try:
            answer = self.ask("POST", "/v1/instances", body)
        except errors.NotFound:
            if function is None or wanted != function.version:
                raise
            self.deploy_function(function)
            answer = self.ask("POST", "/v1/instances", body)
        return InstanceHandle(self, answer["id"], result_type(workflow), answer["existing"])

    def instance(self, id: str, result: Type[R] = cast(Any, Any)) -> InstanceHandle[R]:
        """A handle of an instance whose id is known; no request is made."""
        return InstanceHandle(self, id, result)

    def instances(self, *, status: Optional[str] = None, workflow: Optional[str] = None, key: Optional[str] = None,
                  tags: Optional[Dict[str, str]] = None, limit: Optional[int] = None) -> Iterator[Instance]:
        """Instances that match, newest first; ``tags``: with all of these."""
        return self.pages(Instance, "instances", limit=limit, status=status, workflow=workflow, key=key,
                          tag=tag_filter(tags))

    # ---- looking after it

    def dlq(self, *, limit: Optional[int] = None) -> Iterator[DlqRecord]:
        """Open records of the dead letter queue, newest first."""
        return self.pages(DlqRecord, "dlq", limit=limit)

    def dlq_record(self, id: str) -> DlqRecord:
        """One record, open or not.  NotFound."""
        return read_row(DlqRecord, self.ask("GET", target("dlq", id)), self.codec)

    def requeue(self, record: Union[str, DlqRecord], input: Json = UNSET) -> None:
        """Executes the failed step or compensation again, with new input if it is given."""
        id = record.id if isinstance(record, DlqRecord) else record
        self.ask("POST", target("dlq", id, "requeue"), body_of({}, ("input", encode(self.codec, input))))

    def events(self, cursor: Optional[str] = None, *, follow: bool = False) -> Iterator[StreamEvent]:
        """What happened to all jobs and instances, oldest first; ``cursor`` is the id of the last one known.

        With ``follow`` it goes on for ever, until the engine is closed.
        """
        while True:
            page = self.ask("GET", target("events", limit=PAGE, cursor=cursor))
            for item in page["items"]:
                yield read_row(StreamEvent, item, self.codec)
            cursor = page["next"]
            if len(page["items"]) == PAGE:
                continue
            if not follow or self._is_closing.wait(_FOLLOW):
                return

    def registry(self) -> Iterator[RegistryEntry]:
        """Which runtime executes a type, by name."""
        return self.pages(RegistryEntry, "registry")

    def registry_put(self, name: str, *, runtime: str, enabled: bool = True,
                     description: Optional[str] = None) -> None:
        """Says which runtime executes a type, and whether it may be claimed."""
        self.ask("PUT", target("registry", name),
                 body_of({"runtime": runtime, "is_enabled": enabled, "description": description}))

    def outbox_claim(self, worker: str, *, max: int = 100, lease: Duration = 30) -> List[OutboxEvent]:
        """Claims events to deliver, in order within each instance; acknowledge each before its lease ends."""
        body = body_of({"worker": worker, "max": min(max, self.max_batch), "lease_ms": to_ms(lease)})
        answer = self.ask("POST", "/v1/outbox/claim", body)
        return [read_row(OutboxEvent, item, self.codec) for item in answer["events"]]

    def outbox_ack(self, event: Union[str, OutboxEvent]) -> None:
        """Says that an event was delivered.  WrongState if an earlier one of the instance was not."""
        self.ask("POST", target("outbox", event.id if isinstance(event, OutboxEvent) else event, "ack"))

    def stats(self) -> Dict[str, int]:
        """Figures of the engine, or of the server.

        >>> import cairn
        >>> with cairn.open("memory:") as db:
        ...     _ = db.enqueue("mail.send.v1")
        ...     db.stats()["pending"]
        1
        """
        return dict(self.ask("GET", "/v1/stats"))

    def doctor(self) -> List[Finding]:
        """Examines the store."""
        return [read_row(Finding, item, self.codec) for item in self.ask("GET", "/v1/doctor")["items"]]

    # ---- limits

    def limit_put(self, limit: Limit) -> None:
        """Makes a limit, or replaces the one of this name; what is leased already counts, and stays."""
        rate = None if limit.rate is None else {"n": limit.rate[0], "per_ms": to_ms(limit.rate[1])}
        self.ask("PUT", target("limits", limit.name), body_of({
            "types": limit.types, "concurrency": limit.concurrency or None, "rate": rate, "per_group": limit.per_group}))

    def limits(self) -> Iterator[Limit]:
        """All limits, by name; the time of a rate is in seconds."""
        cursor: Optional[str] = None
        while True:
            page = self.ask("GET", target("limits", limit=PAGE, cursor=cursor))
            for item in page["items"]:
                rate = item["rate"]
                yield read_row(Limit, {**item, "rate": rate and (rate["n"], rate["per_ms"] / 1000)}, self.codec)
            cursor = page["next"]
            if cursor is None:
                return

    def limit_delete(self, name: str) -> None:
        """Removes a limit.  NotFound."""
        self.ask("DELETE", target("limits", name))

    # ---- schedules

    def schedule_put(self, schedule: Schedule) -> None:
        """Makes a schedule, or changes the one of this name; its times go on unless they change, too."""
        is_cron = schedule.cron is not None
        members = {
            "cron": schedule.cron, "every_ms": None if schedule.every is None else to_ms(schedule.every),
            "timezone": schedule.timezone if is_cron else None, "task": schedule.task, "workflow": schedule.workflow,
            "version": schedule.version or None, "overlap": schedule.overlap, "catch_up": schedule.catch_up,
            "paused": schedule.paused,
        }
        given = UNSET if schedule.input is None else schedule.input
        self.ask("PUT", target("schedules", schedule.name), body_of(members, ("input", encode(self.codec, given))))

    def schedules(self) -> Iterator[Schedule]:
        """All schedules, by name, with their latest runs; ``every`` is in seconds."""
        cursor: Optional[str] = None
        while True:
            page = self.ask("GET", target("schedules", limit=PAGE, cursor=cursor))
            for item in page["items"]:
                every = item["every_ms"] / 1000 if item["every_ms"] else None
                yield read_row(Schedule, {**item, "every": every}, self.codec)
            cursor = page["next"]
            if cursor is None:
                return

    def schedule_delete(self, name: str) -> None:
        """Removes a schedule; what it has started goes on.  NotFound."""
        self.ask("DELETE", target("schedules", name))

    # ---- working

    def worker(self, app: "App", *, name: Optional[str] = None, runtime: Optional[str] = "python",
               concurrency: int = 4, lease: Duration = 30, look: Duration = 2, prefetch: int = 0,
               grace: Optional[Duration] = None, state: Any = None) -> "Worker":
        """A worker that executes the handlers of an app; ``run()``, ``start()`` or ``with`` make it work.

        ``concurrency`` counts sync and async handlers together.  ``prefetch`` tasks more are held than are
        executed.  A lease is extended while its handler runs; every ``look`` the worker asks whether its tasks
        are still wanted.  ``grace`` is how long handlers may go on after a stop (None: as long as they take).
        """
        from cairn._worker import Worker

        made = Worker(self, app, name=name, runtime=runtime, concurrency=concurrency, lease=lease, look=look,
                      prefetch=prefetch, grace=grace, state=state)
        self._workers.add(made)
        return made

    def work(self, app: "App", *, until_idle: bool = False, **worker_options: Any) -> int:
        """``worker(...).run(until_idle=...)``: blocks, and answers how many tasks were executed."""
        refuse_on_loop("Engine.work()", "await db.worker(app).arun()")
        return self.worker(app, **worker_options).run(until_idle=until_idle)
