# SPDX-License-Identifier: Apache-2.0
"""The engine for asyncio: the same names and arguments, as coroutines.

Calls run on threads of the engine's own.  Cancelling a coroutine stops waiting, not a write that has begun.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import itertools
import os
import time
from datetime import datetime
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Generator, Iterable, Iterator, List, Optional, Tuple, Type, TypeVar,
    Union, cast, overload,
)

from cairn import _engine, errors
from cairn._aio_handles import AsyncInstanceHandle, AsyncJobHandle
from cairn._codec import Codec
from cairn._handles import deadline, timed_out
from cairn._rows import (
    Definition, Deployed, DlqRecord, Finding, Instance, Job, Limit, OutboxEvent, RegistryEntry, Schedule, StreamEvent,
)
from cairn._tx import AsyncTx as AsyncTx
from cairn._tx import async_tx as tx
from cairn._types import FunctionType, JobSpec, TaskType
from cairn._words import UNSET, Duration, Json, OnExisting, Time
from cairn._workflow import Backoff

if TYPE_CHECKING:
    from cairn._app import App
    from cairn._worker import Worker
    from cairn._workflow import Workflow

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")

__all__ = ["AsyncEngine", "AsyncInstanceHandle", "AsyncJobHandle", "AsyncTx", "open", "tx"]

_CALL_THREADS = 16
_WAIT_THREADS = 16  # waits for an end; those beyond look from time to time
_WAIT_MS = 1000
_FIRST_LOOK, _LONGEST_LOOK = 0.005, 0.5


class AsyncEngine:
    """An open store for coroutines; ``sync`` is the same one for other code.

    >>> import asyncio, cairn
    >>> async def main():
    ...     async with cairn.aio.open("memory:") as db:
    ...         job = await db.enqueue("mail.send.v1", {"to": "ann"})
    ...         print(await job.status(), [found.type async for found in db.jobs()])
    >>> asyncio.run(main())
    pending ['mail.send.v1']
    """

    sync: _engine.Engine

    def __init__(self, engine: _engine.Engine) -> None:
        self.sync = engine
        self._calls = concurrent.futures.ThreadPoolExecutor(_CALL_THREADS, "cairn-aio")
        self._waits = concurrent.futures.ThreadPoolExecutor(_WAIT_THREADS, "cairn-aio-wait")
        self._waiting = 0

    # ---- threads

    async def run(self, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """For the package: a call on a thread of the engine's own."""
        self._check()
        return await asyncio.get_running_loop().run_in_executor(
            self._calls, functools.partial(call, *args, **kwargs))

    def _check(self) -> None:
        if self.sync.native.is_closed:
            raise errors.Closed("the engine is closed")

    async def until_ended(self, look: Callable[[int], T], is_ended: Callable[[T], bool],
                          timeout: Optional[Duration], what: str) -> T:
        """For the package: waits for an end; TimedOut."""
        until = deadline(timeout)
        pause = _FIRST_LOOK
        while True:
            left = None if until is None else until - time.monotonic()
            found = await self._look(look, left)
            if is_ended(found):
                return found
            if until is not None and time.monotonic() >= until:
                raise timed_out(what, timeout)
            if self._waiting >= _WAIT_THREADS:
                await asyncio.sleep(pause if left is None else min(pause, max(0.0, left)))
                pause = min(_LONGEST_LOOK, pause * 2)

    async def _look(self, look: Callable[[int], T], left: Optional[float]) -> T:
        self._check()
        if self._waiting >= _WAIT_THREADS:
            return await self.run(look, 0)
        ms = _WAIT_MS if left is None else max(0, min(_WAIT_MS, round(left * 1000)))
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._waits, look, ms)
        finally:
            self._waiting -= 1

    async def each(self, make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        """For the package: an iterator whose pages are fetched on threads."""
        iterator = make()

        def fetch() -> List[T]:
            return [item for item in itertools.islice(iterator, 1)]

        items = await self.run(fetch)
        while items:
            yield items[0]
            items = await self.run(fetch)

    def shut_down(self) -> None:
        """For the package: lets the threads end."""
        self._calls.shutdown(wait=False)
        self._waits.shutdown(wait=False)

    # ---- its life

    async def __aenter__(self) -> "AsyncEngine":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<async engine {self.url!r}>"

    @property
    def url(self) -> str:
        """Without password."""
        return self.sync.url

    async def close(self) -> None:
        """Stops the engine's workers, waits for calls under way, and closes the store."""
        with concurrent.futures.ThreadPoolExecutor(1, "cairn-aio-close") as one:
            await asyncio.get_running_loop().run_in_executor(one, self.sync.close)

    # ---- calls

    async def now(self) -> datetime:
        """See ``Engine.now``."""
        return await self.run(self.sync.now)

    async def call(self, method: str, target: str, body: Json = UNSET) -> Tuple[int, Json]:
        """See ``Engine.call``."""
        return await self.run(self.sync.call, method, target, body)

    @overload
    async def enqueue(self, task: str, payload: Any = ..., *, key: Optional[str] = ..., priority: int = ...,
                      max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                      metadata: Optional[Dict[str, Any]] = ...,
                      tags: Optional[Dict[str, str]] = ..., timeout: Optional[Duration] = ...,
                      retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                      debounce: Optional[Duration] = ..., group: str = ...) -> "AsyncJobHandle[Any]": ...

    @overload
    async def enqueue(self, task: TaskType[P, R], payload: P = ..., *, key: Optional[str] = ..., priority: int = ...,
                      max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                      metadata: Optional[Dict[str, Any]] = ...,
                      tags: Optional[Dict[str, str]] = ..., timeout: Optional[Duration] = ...,
                      retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                      debounce: Optional[Duration] = ..., group: str = ...) -> "AsyncJobHandle[R]": ...

    async def enqueue(self, task: Any, payload: Any = UNSET, **options: Any) -> "AsyncJobHandle[Any]":
        """See ``Engine.enqueue``."""
        return AsyncJobHandle(self, await self.run(self.sync.enqueue, task, payload, **options))

    async def enqueue_many(self, specs: Iterable[JobSpec]) -> "List[AsyncJobHandle[Any]]":
        """See ``Engine.enqueue_many``."""
        return [AsyncJobHandle(self, handle) for handle in await self.run(self.sync.enqueue_many, list(specs))]

    def job(self, id: str, result: Type[R] = cast(Any, Any)) -> "AsyncJobHandle[R]":
        """See ``Engine.job``; not a coroutine, since no request is made."""
        return AsyncJobHandle(self, self.sync.job(id, result))

    def jobs(self, *, status: Optional[str] = None, type: Optional[str] = None, key: Optional[str] = None,
             tags: Optional[Dict[str, str]] = None, limit: Optional[int] = None) -> AsyncIterator[Job]:
        """See ``Engine.jobs``."""
        return self.each(lambda: self.sync.jobs(status=status, type=type, key=key, tags=tags, limit=limit))

    async def deploy(self, workflow: "Union[str, Workflow]") -> Deployed:
        """See ``Engine.deploy``."""
        return await self.run(self.sync.deploy, workflow)

    async def deploy_function(self, function: "FunctionType[Any, Any]") -> Deployed:
        """See ``Engine.deploy_function``."""
        return await self.run(self.sync.deploy_function, function)

    async def deploy_file(self, path: "Union[str, os.PathLike[str]]") -> Deployed:
        """See ``Engine.deploy_file``."""
        return await self.run(self.sync.deploy_file, path)

    def workflows(self) -> AsyncIterator[Definition]:
        """See ``Engine.workflows``."""
        return self.each(self.sync.workflows)

    @overload
    async def start(self, workflow: str, input: Any = ..., *, version: int = ..., key: Optional[str] = ...,
                    at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                    metadata: Optional[Dict[str, Any]] = ...,
                    tags: Optional[Dict[str, str]] = ...,
                    on_existing: Optional[OnExisting] = ...,
                    group: Optional[str] = ...) -> "AsyncInstanceHandle[Any]": ...

    @overload
    async def start(self, workflow: FunctionType[P, R], input: P = ..., *, version: int = ...,
                    key: Optional[str] = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                    metadata: Optional[Dict[str, Any]] = ...,
                    tags: Optional[Dict[str, str]] = ...,
                    on_existing: Optional[OnExisting] = ...,
                    group: Optional[str] = ...) -> "AsyncInstanceHandle[R]": ...

    async def start(self, workflow: Any, input: Any = UNSET, **options: Any) -> "AsyncInstanceHandle[Any]":
        """See ``Engine.start``."""
        return AsyncInstanceHandle(self, await self.run(self.sync.start, workflow, input, **options))

    def instance(self, id: str, result: Type[R] = cast(Any, Any)) -> "AsyncInstanceHandle[R]":
        """See ``Engine.instance``; not a coroutine, since no request is made."""
        return AsyncInstanceHandle(self, self.sync.instance(id, result))

    def instances(self, *, status: Optional[str] = None, workflow: Optional[str] = None, key: Optional[str] = None,
                  tags: Optional[Dict[str, str]] = None, limit: Optional[int] = None) -> AsyncIterator[Instance]:
        """See ``Engine.instances``."""
        return self.each(lambda: self.sync.instances(status=status, workflow=workflow, key=key, tags=tags,
                                                     limit=limit))

    def dlq(self, *, limit: Optional[int] = None) -> AsyncIterator[DlqRecord]:
        """See ``Engine.dlq``."""
        return self.each(lambda: self.sync.dlq(limit=limit))

    async def dlq_record(self, id: str) -> DlqRecord:
        """See ``Engine.dlq_record``."""
        return await self.run(self.sync.dlq_record, id)

    async def requeue(self, record: Union[str, DlqRecord], input: Json = UNSET) -> None:
        """See ``Engine.requeue``."""
        await self.run(self.sync.requeue, record, input)

    async def events(self, cursor: Optional[str] = None, *, follow: bool = False) -> AsyncIterator[StreamEvent]:
        """See ``Engine.events``."""
        while True:
            async for event in self.each(functools.partial(self.sync.events, cursor)):
                cursor = event.id
                yield event
            if not follow or self.sync.native.is_closed:
                return
            await asyncio.sleep(_LONGEST_LOOK / 2)

    def registry(self) -> AsyncIterator[RegistryEntry]:
        """See ``Engine.registry``."""
        return self.each(self.sync.registry)

    async def registry_put(self, name: str, *, runtime: str, enabled: bool = True,
                           description: Optional[str] = None) -> None:
        """See ``Engine.registry_put``."""
        await self.run(self.sync.registry_put, name, runtime=runtime, enabled=enabled, description=description)

    async def outbox_claim(self, worker: str, *, max: int = 100, lease: Duration = 30) -> List[OutboxEvent]:
        """See ``Engine.outbox_claim``."""
        return await self.run(self.sync.outbox_claim, worker, max=max, lease=lease)

    async def outbox_ack(self, event: Union[str, OutboxEvent]) -> None:
        """See ``Engine.outbox_ack``."""
        await self.run(self.sync.outbox_ack, event)

    async def stats(self) -> Dict[str, int]:
        """See ``Engine.stats``."""
        return await self.run(self.sync.stats)

    async def doctor(self) -> List[Finding]:
        """See ``Engine.doctor``."""
        return await self.run(self.sync.doctor)

    async def limit_put(self, limit: Limit) -> None:
        """See ``Engine.limit_put``."""
        await self.run(self.sync.limit_put, limit)

    def limits(self) -> AsyncIterator[Limit]:
        """See ``Engine.limits``."""
        return self.each(self.sync.limits)

    async def limit_delete(self, name: str) -> None:
        """See ``Engine.limit_delete``."""
        await self.run(self.sync.limit_delete, name)

    async def schedule_put(self, schedule: Schedule) -> None:
        """See ``Engine.schedule_put``."""
        await self.run(self.sync.schedule_put, schedule)

    def schedules(self) -> AsyncIterator[Schedule]:
        """See ``Engine.schedules``."""
        return self.each(self.sync.schedules)

    async def schedule_delete(self, name: str) -> None:
        """See ``Engine.schedule_delete``."""
        await self.run(self.sync.schedule_delete, name)

    def worker(self, app: "App", *, name: Optional[str] = None, runtime: Optional[str] = "python",
               concurrency: int = 4, lease: Duration = 30, look: Duration = 2, prefetch: int = 0,
               grace: Optional[Duration] = None, state: Any = None) -> "Worker":
        """See ``Engine.worker``; use it in ``async with``, or await its ``arun()``."""
        return self.sync.worker(app, name=name, runtime=runtime, concurrency=concurrency, lease=lease, look=look,
                                prefetch=prefetch, grace=grace, state=state)

    async def work(self, app: "App", *, until_idle: bool = False, **worker_options: Any) -> int:
        """``await worker(...).arun(until_idle=...)``."""
        return await self.sync.worker(app, **worker_options).arun(until_idle=until_idle)


class Opening:
    """An engine that is being opened: await it, or use it in ``async with``."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        self._engine: Optional[AsyncEngine] = None

    async def _open(self) -> AsyncEngine:
        with concurrent.futures.ThreadPoolExecutor(1, "cairn-aio-open") as one:
            engine = await asyncio.get_running_loop().run_in_executor(
                one, functools.partial(_engine.open, **self._options))
        self._engine = engine.aio
        return engine.aio

    def __await__(self) -> Generator[Any, None, AsyncEngine]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncEngine:
        return await self._open()

    async def __aexit__(self, *exc: object) -> None:
        if self._engine is not None:
            await self._engine.close()


def open(url: Optional[str] = None, *, token: Optional[str] = None, seed: int = 0, virtual_clock: bool = False,
         start: Optional[Time] = None, migrate: bool = True, timers: bool = True, retry: Duration = 10,
         max_payload: int = 1 << 20, max_batch: int = 1000, codec: Optional[Codec] = None) -> Opening:
    """``cairn.open()`` for coroutines: ``await`` it, or use it in ``async with``.

    >>> import asyncio, cairn
    >>> async def main():
    ...     db = await cairn.aio.open("memory:")
    ...     print(db.url)
    ...     await db.close()
    >>> asyncio.run(main())
    memory:
    """
    return Opening({"url": url, "token": token, "seed": seed, "virtual_clock": virtual_clock, "start": start,
                    "migrate": migrate, "timers": timers, "retry": retry, "max_payload": max_payload,
                    "max_batch": max_batch, "codec": codec})
