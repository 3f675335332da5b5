# SPDX-License-Identifier: Apache-2.0
"""Handles of jobs and instances: an id, and what can be done with it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Generic, Iterator, NoReturn, Optional, Type, TypeVar

from cairn import errors
from cairn._loops import refuse_on_loop
from cairn._request import body_of, encode, target
from cairn._rows import Event, Instance, Job, Log, Signalled, Step, decode_value, read_row
from cairn._words import UNSET, Duration, Json, to_seconds

if TYPE_CHECKING:
    from cairn._engine import Engine

R = TypeVar("R")
Row = TypeVar("Row", Job, Instance)

JOB_ENDS = ("succeeded", "failed", "cancelled")
INSTANCE_ENDS = ("completed", "failed", "cancelled", "aborted")
_WAIT_MS = 20_000  # of one request


class Handle(Generic[R]):
    """What both handles share."""

    __slots__ = ("id", "existing", "_engine", "_type")

    id: str
    existing: bool
    _kind = ""

    def __init__(self, engine: "Engine", id: str, type: Any, existing: bool = False) -> None:
        self.id = id
        self.existing = existing
        self._engine = engine
        self._type = type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.id == other.id

    def __hash__(self) -> int:
        return hash((self._kind, self.id))

    def __repr__(self) -> str:
        return f"<{self._kind[:-1]} {self.id}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a handle of a {self._kind[:-1]} cannot be pickled: pass its id")

    @property
    def engine(self) -> "Engine":
        """The engine that it asks."""
        return self._engine

    @property
    def result_type(self) -> Any:
        """What results are decoded to."""
        return self._type

    def _read(self, *path: str, **query: Any) -> Json:
        return self._engine.ask("GET", target(self._kind, self.id, *path, **query))

    def _do(self, *path: str, body: Optional[bytes] = None) -> Json:
        return self._engine.ask("POST", target(self._kind, self.id, *path), body)

    def _refuse(self, name: str) -> None:
        kind = self._kind[:-1]
        refuse_on_loop(f"{type(self).__name__}.{name}()", f"await db.aio.{kind}(id).{name}()")


def wait_ms(until: Optional[float]) -> int:
    """How long the next request may wait."""
    if until is None:
        return _WAIT_MS
    return max(0, min(_WAIT_MS, round((until - time.monotonic()) * 1000)))


def deadline(timeout: Optional[Duration]) -> Optional[float]:
    """When a wait is over; None: never."""
    return None if timeout is None else time.monotonic() + to_seconds(timeout)


def timed_out(what: str, timeout: Any) -> errors.TimedOut:
    """The error of a wait that was too short."""
    return errors.TimedOut(f"{what} has not ended within {timeout if isinstance(timeout, str) else f'{timeout} s'}")


class JobHandle(Handle[R]):
    """A job that was recorded.  Handles are cheap, hashable and equal by id.

    ``existing``: the key was known, and nothing was written.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue("mail.send.v1", key="mail-1")
    ...     again = db.enqueue("mail.send.v1", key="mail-1")
    ...     job.existing, again.existing, job == again, job.status()
    ...     job.cancel()
    ...     job.status()
    (False, True, True, 'pending')
    'cancelled'
    """

    __slots__ = ()
    _kind = "jobs"

    def get(self) -> Job:
        """Its row.  NotFound."""
        return read_row(Job, self._read(), self._engine.codec)

    def status(self) -> str:
        """Its status: pending, leased, succeeded, failed or cancelled."""
        return self.get().status

    def wait(self, timeout: Optional[Duration] = None) -> Job:
        """Blocks until it has ended, whichever process ends it.  TimedOut."""
        self._refuse("wait")
        until = deadline(timeout)
        while True:
            ms = wait_ms(until)
            job = self.look(ms)
            if job.status in JOB_ENDS:
                return job
            if until is not None and time.monotonic() >= until:
                raise timed_out(f"job {self.id}", timeout)

    def result(self, timeout: Optional[Duration] = None) -> R:
        """Blocks until it has ended and answers its result.  JobFailed, JobCancelled, TimedOut.

        >>> import cairn
        >>> with cairn.open("memory:") as db:
        ...     db.enqueue("mail.send.v1").result(timeout=0)
        Traceback (most recent call last):
            ...
        cairn.errors.TimedOut: job ... has not ended within 0 s
        """
        self._refuse("result")
        return self.result_of(self.wait(timeout))

    def cancel(self) -> None:
        """Cancels it at once: no later result of its worker changes that.  WrongState if it has ended."""
        self._do("cancel")

    def delete(self) -> None:
        """Cancels it if it has not ended; it is neither claimed nor listed from then on."""
        self._engine.ask("DELETE", target("jobs", self.id))

    def retry(self) -> None:
        """Makes a failed or cancelled job pending again, with all its attempts."""
        self._do("retry")

    def events(self) -> Iterator[Event]:
        """Its history, oldest first."""
        return self._engine.pages(Event, "jobs", self.id, "events")

    def look(self, ms: int) -> Job:
        """Its row, when it has ended or after so many milliseconds."""
        return read_row(Job, self._read(wait_ms=ms or None), self._engine.codec)

    def result_of(self, job: Job) -> R:
        """The result of a job that has ended."""
        if job.status == "failed":
            raise errors.JobFailed(job)
        if job.status == "cancelled":
            raise errors.JobCancelled(job)
        result: R = self._engine.decode_again(job.result, self._type)
        return result


class InstanceHandle(Handle[R]):
    """An instance of a workflow or function.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     _ = db.deploy("{workflow: leave, version: 1, steps: [{human: approval}]}")
    ...     leave = db.start("leave", {"who": "ann"})
    ...     leave.confirm("approval", by="carla")
    ...     leave.status(), leave.result()
    ('completed', {'who': 'ann'})
    """

    __slots__ = ()
    _kind = "instances"

    def get(self) -> Instance:
        """Its row.  NotFound."""
        return read_row(Instance, self._read(), self._engine.codec)

    def status(self) -> str:
        """Its status, such as running, waiting_signal or completed."""
        return self.get().status

    def wait(self, timeout: Optional[Duration] = None) -> Instance:
        """Blocks until it has ended.  One that is paused or in the dead letter queue has not.  TimedOut."""
        self._refuse("wait")
        until = deadline(timeout)
        while True:
            ms = wait_ms(until)
            instance = self.look(ms)
            if instance.status in INSTANCE_ENDS:
                return instance
            if until is not None and time.monotonic() >= until:
                raise timed_out(f"instance {self.id}", timeout)

    def result(self, timeout: Optional[Duration] = None) -> R:
        """Blocks until it has ended and answers its output.

        InstanceFailed, InstanceCancelled, InstanceAborted, TimedOut.
        """
        self._refuse("result")
        return self.result_of(self.wait(timeout))

    def signal(self, event: str, payload: Json = None, *, id: Optional[str] = None, latch: bool = True) -> Signalled:
        """Sends a signal.  A second one with the same id changes nothing.

        With ``latch=False`` it is not kept if no step waits for it.
        """
        body = body_of({"event": event, "id": id, "latch": None if latch else "off"},
                       ("payload", encode(self._engine.codec, payload)))
        return read_row(Signalled, self._do("signal", body=body), self._engine.codec)

    def confirm(self, step: str, *, by: str, comment: str = "") -> None:
        """Confirms a human step: the instance continues.  WrongState if it waits for no decision."""
        self._decide(step, "confirmed", by, comment)

    def reject(self, step: str, *, by: str, comment: str = "") -> None:
        """Rejects a human step: the instance is aborted.  WrongState if it waits for no decision."""
        self._decide(step, "rejected", by, comment)

    def cancel(self, *, by: str, reason: str) -> None:
        """Stops it and undoes what it has done."""
        self._do("cancel", body=body_of({"by": by, "reason": reason}))

    def abort(self, *, by: str, reason: str) -> None:
        """Stops it and undoes nothing."""
        self._do("abort", body=body_of({"by": by, "reason": reason}))

    def pause(self) -> None:
        """What runs may finish, nothing new starts; signals are kept."""
        self._do("pause")

    def resume(self, *, force: bool = False) -> None:
        """Goes on after a pause.  ``force`` accepts code that no longer matches what is remembered."""
        self._do("resume", body=body_of({"force": force}))

    def restart(self) -> None:
        """Starts it again from the beginning, with its first input; nothing is undone."""
        self._do("restart")

    def rerun(self, from_step: Optional[str] = None, input: Json = UNSET) -> "InstanceHandle[R]":
        """Runs it again as a new instance, from the beginning or from a step on.

        Steps before it that ended are copied as they ended, and are not undone by the new instance; steps of other
        branches are executed.  ``input`` is the input of that step, exactly as its handler gets it, or of the instance.
        """
        given = () if input is UNSET else (("input", encode(self._engine.codec, input)),)
        answer = self._do("rerun", body=body_of({"from": from_step}, *given))
        return InstanceHandle(self._engine, answer["id"], self._type)

    def retry(self) -> None:
        """Tries the failed steps of a failed instance again."""
        self._do("retry")

    def steps(self) -> Iterator[Step]:
        """Its steps, in the order of the file."""
        return self._engine.pages(Step, "instances", self.id, "steps")

    def events(self) -> Iterator[Event]:
        """Its history, oldest first."""
        return self._engine.pages(Event, "instances", self.id, "events")

    def logs(self) -> Iterator[Log]:
        """What a function has logged, oldest first."""
        return self._engine.pages(Log, "instances", self.id, "logs")

    def look(self, ms: int) -> Instance:
        """Its row, when it has ended or after so many milliseconds."""
        return read_row(Instance, self._read(wait_ms=ms or None), self._engine.codec)

    def result_of(self, instance: Instance) -> R:
        """The output of an instance that has ended."""
        kinds = {"failed": errors.InstanceFailed, "cancelled": errors.InstanceCancelled,
                 "aborted": errors.InstanceAborted}
        if instance.status in kinds:
            raise kinds[instance.status](instance)
        result: R = self._engine.decode_again(instance.output, self._type)
        return result

    def _decide(self, step: str, decision: str, by: str, comment: str) -> None:
        self._do("steps", step, "decision",
                 body=body_of({"decision": decision, "by": by, "comment": comment or None}))


__all__ = ["INSTANCE_ENDS", "JOB_ENDS", "Handle", "InstanceHandle", "JobHandle", "Type", "decode_value"]
