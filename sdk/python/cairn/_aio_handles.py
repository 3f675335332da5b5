# SPDX-License-Identifier: Apache-2.0
"""Handles of jobs and instances for coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, AsyncIterator, Generic, Optional, TypeVar

from cairn._handles import INSTANCE_ENDS, JOB_ENDS, InstanceHandle, JobHandle
from cairn._rows import Event, Instance, Job, Log, Signalled, Step
from cairn._words import UNSET, Duration, Json

if TYPE_CHECKING:
    from cairn.aio import AsyncEngine

R = TypeVar("R")


class AsyncJobHandle(Generic[R]):
    """A job that was recorded: the methods of ``JobHandle`` as coroutines.

    >>> import asyncio, cairn
    >>> async def main():
    ...     async with cairn.aio.open("memory:") as db:
    ...         job = await db.enqueue("mail.send.v1")
    ...         await job.cancel()
    ...         print(await job.status(), [event.type async for event in job.events()])
    >>> asyncio.run(main())
    cancelled ['created', 'cancelled']
    """

    __slots__ = ("sync", "_db")

    def __init__(self, db: "AsyncEngine", handle: JobHandle[R]) -> None:
        self.sync = handle
        self._db = db

    @property
    def id(self) -> str:
        """The job's id."""
        return self.sync.id

    @property
    def existing(self) -> bool:
        """The key was known, and nothing was written."""
        return self.sync.existing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsyncJobHandle) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.sync)

    def __repr__(self) -> str:
        return repr(self.sync)

    async def get(self) -> Job:
        """Its row.  NotFound."""
        return await self._db.run(self.sync.get)

    async def status(self) -> str:
        """Its status."""
        return await self._db.run(self.sync.status)

    async def wait(self, timeout: Optional[Duration] = None) -> Job:
        """Waits until it has ended.  TimedOut."""
        return await self._db.until_ended(self.sync.look, lambda job: job.status in JOB_ENDS, timeout, f"job {self.id}")

    async def result(self, timeout: Optional[Duration] = None) -> R:
        """Waits until it has ended and answers its result.  JobFailed, JobCancelled, TimedOut."""
        return self.sync.result_of(await self.wait(timeout))

    async def cancel(self) -> None:
        """See ``JobHandle.cancel``."""
        await self._db.run(self.sync.cancel)

    async def delete(self) -> None:
        """See ``JobHandle.delete``."""
        await self._db.run(self.sync.delete)

    async def retry(self) -> None:
        """See ``JobHandle.retry``."""
        await self._db.run(self.sync.retry)

    def events(self) -> AsyncIterator[Event]:
        """Its history, oldest first."""
        return self._db.each(self.sync.events)


class AsyncInstanceHandle(Generic[R]):
    """An instance: the methods of ``InstanceHandle`` as coroutines.

    >>> import asyncio, cairn
    >>> async def main():
    ...     async with cairn.aio.open("memory:") as db:
    ...         await db.deploy("{workflow: leave, version: 1, steps: [{human: approval}]}")
    ...         leave = await db.start("leave", {"who": "ann"})
    ...         await leave.confirm("approval", by="carla")
    ...         print(await leave.result(timeout=10))
    >>> asyncio.run(main())
    {'who': 'ann'}
    """

    __slots__ = ("sync", "_db")

    def __init__(self, db: "AsyncEngine", handle: InstanceHandle[R]) -> None:
        self.sync = handle
        self._db = db

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.sync.id

    @property
    def existing(self) -> bool:
        """The key was known, and nothing was written."""
        return self.sync.existing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsyncInstanceHandle) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.sync)

    def __repr__(self) -> str:
        return repr(self.sync)

    async def get(self) -> Instance:
        """Its row.  NotFound."""
        return await self._db.run(self.sync.get)

    async def status(self) -> str:
        """Its status."""
        return await self._db.run(self.sync.status)

    async def wait(self, timeout: Optional[Duration] = None) -> Instance:
        """Waits until it has ended.  TimedOut."""
        return await self._db.until_ended(self.sync.look, lambda instance: instance.status in INSTANCE_ENDS, timeout,
                                          f"instance {self.id}")

    async def result(self, timeout: Optional[Duration] = None) -> R:
        """Waits until it has ended and answers its output; errors as of ``InstanceHandle.result``."""
        return self.sync.result_of(await self.wait(timeout))

    async def signal(self, event: str, payload: Json = None, *, id: Optional[str] = None,
                     latch: bool = True) -> Signalled:
        """See ``InstanceHandle.signal``."""
        return await self._db.run(self.sync.signal, event, payload, id=id, latch=latch)

    async def confirm(self, step: str, *, by: str, comment: str = "") -> None:
        """See ``InstanceHandle.confirm``."""
        await self._db.run(self.sync.confirm, step, by=by, comment=comment)

    async def reject(self, step: str, *, by: str, comment: str = "") -> None:
        """See ``InstanceHandle.reject``."""
        await self._db.run(self.sync.reject, step, by=by, comment=comment)

    async def cancel(self, *, by: str, reason: str) -> None:
        """See ``InstanceHandle.cancel``."""
        await self._db.run(self.sync.cancel, by=by, reason=reason)

    async def abort(self, *, by: str, reason: str) -> None:
        """See ``InstanceHandle.abort``."""
        await self._db.run(self.sync.abort, by=by, reason=reason)

    async def pause(self) -> None:
        """See ``InstanceHandle.pause``."""
        await self._db.run(self.sync.pause)

    async def resume(self, *, force: bool = False) -> None:
        """See ``InstanceHandle.resume``."""
        await self._db.run(self.sync.resume, force=force)

    async def restart(self) -> None:
        """See ``InstanceHandle.restart``."""
        await self._db.run(self.sync.restart)

    async def rerun(self, from_step: Optional[str] = None, input: Json = UNSET) -> "AsyncInstanceHandle[R]":
        """See ``InstanceHandle.rerun``."""
        return AsyncInstanceHandle(self._db, await self._db.run(self.sync.rerun, from_step, input))

    async def retry(self) -> None:
        """See ``InstanceHandle.retry``."""
        await self._db.run(self.sync.retry)

    def steps(self) -> AsyncIterator[Step]:
        """Its steps, in the order of the file."""
        return self._db.each(self.sync.steps)

    def events(self) -> AsyncIterator[Event]:
        """Its history, oldest first."""
        return self._db.each(self.sync.events)

    def logs(self) -> AsyncIterator[Log]:
        """What a function has logged, oldest first."""
        return self._db.each(self.sync.logs)


