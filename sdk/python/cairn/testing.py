# SPDX-License-Identifier: Apache-2.0
"""Tests of code that uses Cairn: the real engine in memory, and a clock that the test moves.

>>> import cairn, cairn.testing
>>> app = cairn.App()
>>> @app.function("reminder")
... def reminder(ctx: cairn.Context, who: str) -> str:
...     ctx.sleep("30d")
...     return f"hello {who}, it is {ctx.now():%Y-%m-%d}"
>>> with cairn.testing.Environment() as env:
...     run = env.db.start(reminder, "ann")
...     env.run(app, until=run)
...     run.result()
'hello ann, it is 2030-01-31'
"""

from __future__ import annotations

import contextlib
import os
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterable, List, Optional, Type, Union

import cairn
from cairn import errors
from cairn._engine import open_trial
from cairn._faults import Faults, Verdict
from cairn._words import UNSET, Duration, Json, Time, Unset, from_time, to_ms

if TYPE_CHECKING:
    from cairn import App, Engine, InstanceHandle, Job, Task, TaskType

_NO_ERRORS = (errors.Suspended, errors.Stopped, errors.Release, errors.WaitFor)
_JOB_ENDS = ("succeeded", "failed", "cancelled")
_INSTANCE_ENDS = ("completed", "failed", "cancelled", "aborted")


class Environment:
    """An engine of its own, with a virtual clock.

    Leases, retries and timers are those of production; only the time stands still until
    ``advance()`` or ``run()`` moves it.  On other URLs than ``memory:`` the store should be empty.
    With ``faults`` the calls of handlers go wrong as the seed says, one task at a time.

    >>> import cairn, cairn.testing
    >>> with cairn.testing.Environment() as env:
    ...     env.now().isoformat()
    '2030-01-01T00:00:00+00:00'
    """

    db: "Engine"
    errors: List[BaseException]

    def __init__(self, url: str = "memory:", *, start: Time = "2030-01-01T00:00:00Z", seed: int = 1,
                 faults: Optional[Faults] = None) -> None:
        self.errors = []
        self._has_faults = faults is not None
        self.db = (cairn.open(url, virtual_clock=True, start=start, seed=seed) if faults is None
                   else open_trial(url, seed, start, faults.as_options()))

    def __enter__(self) -> "Environment":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the engine.  It may be repeated."""
        self.db.close()

    def now(self) -> datetime:
        """The time of the virtual clock."""
        return self.db.now()

    def work(self, app: "App", *, state: Any = None, concurrency: int = 1, raise_errors: bool = False) -> int:
        """Executes tasks until nothing is due; answers how many.

        What handlers raise is appended to ``errors``.  With ``raise_errors`` the first of these is
        raised when the work is done.

        >>> import cairn, cairn.testing
        >>> app = cairn.App()
        >>> @app.task("divide.v1")
        ... def divide(n: int) -> float:
        ...     return 1 / n
        >>> with cairn.testing.Environment() as env:
        ...     _ = env.db.enqueue(divide, 0)
        ...     env.work(app), env.errors
        (1, [ZeroDivisionError('division by zero')])
        """
        before = len(self.errors)
        if self._has_faults and concurrency != 1:
            raise ValueError("with faults concurrency is 1, so that a seed can be repeated")
        done = self.db.work(self._watched(app), until_idle=True, concurrency=concurrency, state=state)
        if raise_errors and len(self.errors) > before:
            raise self.errors[before]
        return done

    def advance(self, duration: Duration) -> datetime:
        """Moves the clock, and applies what falls due on the way; executes no handler.

        >>> import cairn.testing
        >>> with cairn.testing.Environment() as env:
        ...     env.advance("29d").isoformat()
        '2030-01-30T00:00:00+00:00'
        """
        answer = self._ask("POST", "/v1/clock/advance", {"ms": to_ms(duration)})
        now = from_time(answer["now"])
        assert now is not None
        return now

    def run(self, app: "App", *, until: Any, within: Duration = "365d", state: Any = None) -> None:
        """Works, moves the clock to the next thing that is due, and so on, until each handle has ended.

        ``until`` is a handle of a job or an instance, or several of them.  AssertionError, with the
        steps of each instance that has not ended, if nothing is due any more or ``within`` is over.

        >>> import cairn, cairn.testing
        >>> with cairn.testing.Environment() as env:
        ...     _ = env.db.deploy("{workflow: pay, version: 1, steps: [{wait: settled, event: paid}]}")
        ...     run = env.db.start("pay")
        ...     env.run(cairn.App(), until=run)
        Traceback (most recent call last):
            ...
        AssertionError: nothing is due any more, and these have not ended:
        pay ... is waiting_signal
            settled  waiting  for the event "paid"
        """
        handles = _handles(until)
        deadline = self.now() + timedelta(milliseconds=to_ms(within))
        before: Optional[datetime] = None
        while True:
            if app.tasks or app.functions or app.outbox_handler:
                self.work(app, state=state)
            waiting = [handle for handle in handles if not _has_ended(handle)]
            if not waiting:
                return
            due = self._next_due()
            if due is None or due == before:  # what stays due although the clock is there moves nothing
                raise AssertionError("\n".join(["nothing is due any more, and these have not ended:",
                                                *map(_picture, waiting)]))
            if due > deadline:
                raise AssertionError("\n".join([f"the next thing is due at {due}, after {deadline}, and these have "
                                                "not ended:", *map(_picture, waiting)]))
            self.advance(_whole_ms(due - self.now()))
            before = due

    def expect(self, run: "InstanceHandle[Any]", *laws: str) -> Verdict:
        """AssertionError, with the story, unless these laws hold for the instance and its children.

        A law is one of ``cairn simulate --expect``.  Three always count: it has ended; what was done is undone if it
        was rolled back (unless it has save points), and only then; nothing is undone twice.  Needs ``faults``.

        >>> import cairn
        >>> from cairn.testing import Environment, Faults
        >>> app = cairn.App()
        >>> @app.task("%")
        ... def handle(data: dict) -> dict:
        ...     return data
        >>> with Environment(faults=Faults(fail_of={"ship": 1})) as env:
        ...     _ = env.db.deploy("{workflow: order, version: 1, steps: [{step: charge}, {step: ship}]}")
        ...     run = env.db.start("order", {"id": 17})
        ...     env.run(app, until=run)
        ...     env.expect(run, "done(charge) => done(ship)")
        Traceback (most recent call last):
            ...
        AssertionError: broken: done(charge) => done(ship)
        order ended as failed; done: charge; undone: nothing
        00:00:00.0  charge is called
        ...
        """
        verdict = self._verdict(run.id, laws)
        if not verdict["broken"]:
            return _verdict_of(verdict)
        lines = [f"broken: {law}" for law in verdict["broken"]]
        lines.append(f"{verdict['workflow']} ended as {verdict['status']}; done: {_names(verdict['done'])}; "
                     f"undone: {_names(verdict['undone'])}")
        raise AssertionError("\n".join([*lines, *verdict["story"]]))

    def story(self) -> List[str]:
        """What has happened so far, a line each.  Needs ``faults``."""
        told: List[str] = self._verdict(None, ())["story"]
        return told

    def _verdict(self, id: Optional[str], laws: Iterable[str]) -> Dict[str, Any]:
        if not self._has_faults:
            raise errors.Misuse("the environment has no faults", hint="make it with Environment(faults=Faults())")
        return self.db.native.verdict(None if id is None else id.encode(), [law.encode() for law in laws])

    def _next_due(self) -> Optional[datetime]:
        return from_time(self._ask("GET", "/v1/clock")["next"])

    def _ask(self, method: str, target: str, body: Any = UNSET) -> Dict[str, Any]:
        status, answer = self.db.call(method, target, body)
        if status >= 400:
            raise errors.make(answer["code"], answer["message"], answer.get("detail") or "", answer.get("hint") or "",
                              status)
        found: Dict[str, Any] = answer
        return found

    def _watched(self, app: "App") -> "App":
        """The same app, with its errors kept."""
        watched = cairn.App()
        watched.around(self._watch)
        watched.include(app)
        return watched

    @contextlib.contextmanager
    def _watch(self, task: "Task") -> Generator[None, None, None]:
        try:
            yield
        except _NO_ERRORS:
            raise
        except BaseException as error:
            self.errors.append(error)
            raise


def _verdict_of(answer: Dict[str, Any]) -> Verdict:
    return Verdict(**{name: answer[name] for name in Verdict.__dataclass_fields__})


def _names(steps: List[str]) -> str:
    return ", ".join(steps) or "nothing"


def explore(scenario: Callable[[Environment], Any], *, seeds: int = 100, faults: Optional[Faults] = None,
            url: str = "memory:") -> None:
    """Runs a scenario with faults, once for each seed from 1, each time in an environment of its own.

    The scenario gets the ``Environment``: it makes its app and whatever its handlers change, starts and runs
    instances, and asserts what must be true however badly things went.  At its end every instance must have ended,
    and the laws of ``Environment.expect()`` that always count must hold.  The first seed that fails is reported with
    its story.  ``CAIRN_SEED=17`` in the process environment runs that seed alone.

    >>> import cairn
    >>> from cairn.testing import Environment, explore
    >>> def scenario(env: Environment) -> None:
    ...     app, charges = cairn.App(), []
    ...     @app.task("charge")
    ...     def charge(order: dict) -> None:
    ...         charges.append(order["id"])     # a mistake: a call may be repeated
    ...     _ = env.db.deploy("{workflow: order, version: 1, steps: [{step: charge}]}")
    ...     env.run(app, until=env.db.start("order", {"id": 17}))
    ...     assert len(charges) <= 1, f"charged {len(charges)} times"
    >>> explore(scenario)
    Traceback (most recent call last):
        ...
    AssertionError: seed ...: charged 2 times
    ...
    repeat it with CAIRN_SEED=...
    """
    only = os.environ.get("CAIRN_SEED")
    for seed in [int(only)] if only else range(1, seeds + 1):
        with Environment(url, seed=seed, faults=Faults() if faults is None else faults) as env:
            try:
                scenario(env)
                _expect_all(env)
            except Exception as error:
                raise AssertionError(_report(env, seed, error)) from error


def _expect_all(env: Environment) -> None:
    for instance in list(env.db.instances()):
        if getattr(instance, "parent", None) is None:
            env.expect(env.db.instance(instance.id))


def _report(env: Environment, seed: int, error: Exception) -> str:
    text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    story = env.story()
    told = [line for line in text.split("\n") if line not in story]
    return "\n".join([f"seed {seed}: " + "\n".join(told), *story, f"repeat it with CAIRN_SEED={seed}"])


def _whole_ms(duration: timedelta) -> timedelta:
    """Rounded up, since the clock moves by milliseconds."""
    ms = timedelta(milliseconds=1)
    return max(-(-duration // ms), 0) * ms


def _handles(until: Any) -> List[Any]:
    if isinstance(until, (cairn.JobHandle, cairn.InstanceHandle)):
        return [until]
    if isinstance(until, Iterable):
        handles: List[Any] = list(until)  # pyright: ignore[reportUnknownArgumentType]
        if handles and all(isinstance(handle, (cairn.JobHandle, cairn.InstanceHandle)) for handle in handles):
            return handles
    raise TypeError("until is a handle of a job or an instance, or several of them")


def _has_ended(handle: Any) -> bool:
    return handle.status() in (_JOB_ENDS if isinstance(handle, cairn.JobHandle) else _INSTANCE_ENDS)


def _picture(handle: Any) -> str:
    """Where it is, for a person."""
    if isinstance(handle, cairn.JobHandle):
        job: Any = handle.get()
        return f"job {job.id} of {job.type} is {job.status}, called {job.attempt} times" + (
            f", last error: {job.last_error}" if job.last_error else "")
    instance: Any = handle.get()
    lines = [f"{instance.workflow} {instance.id} is {instance.status}" + (
        f": {instance.error}" if instance.error else "")]
    steps: List[Any] = list(handle.steps())
    width = max((len(step.name) for step in steps), default=0)
    for step in steps:
        lines.append(f"    {step.name:{width}}  {step.status}" + _why(step))
    return "\n".join(lines)


def _why(step: Any) -> str:
    if getattr(step, "error", None):
        return f"  {step.error}"
    if getattr(step, "waiting_event", None):
        return f'  for the event "{step.waiting_event}"'
    if step.status in ("ready", "waiting") and getattr(step, "next_run_at", None):
        return f"  until {step.next_run_at:%Y-%m-%dT%H:%M:%SZ}"
    return ""


def assert_enqueued(db: "Engine", task: "Union[str, TaskType[Any, Any]]", payload: Union[Json, Unset] = UNSET, *,
                    count: Optional[int] = None) -> "List[Job]":
    """The jobs of this type (and payload), oldest first; AssertionError if there are none, or not ``count``.

    >>> import cairn, cairn.testing
    >>> with cairn.testing.Environment() as env:
    ...     _ = env.db.enqueue("mail.v1", {"to": "ann"})
    ...     cairn.testing.assert_enqueued(env.db, "mail.v1", {"to": "ann"}, count=1)[0].status
    ...     cairn.testing.assert_enqueued(env.db, "mail.v1", {"to": "bob"})
    Traceback (most recent call last):
        ...
    AssertionError: no job of type mail.v1 with the payload {"to":"bob"}; there are: {"to":"ann"}
    """
    from cairn._codec import DEFAULT, to_json

    jobs = list(db.jobs(type=str(task)))[::-1]
    wanted = None if payload is UNSET else to_json(payload)
    found = jobs if payload is UNSET else [job for job in jobs if job.payload == wanted]
    if len(found) == count or count is None and found:
        return found
    what = f"type {task}" + ("" if payload is UNSET else f" with the payload {DEFAULT.encode(payload)}")
    there = ", ".join(DEFAULT.encode(job.payload) for job in jobs[:10]) or "none of this type"
    number = "no job" if count is None else f"{len(found)} jobs instead of {count}"
    raise AssertionError(f"{number} of {what}; there are: {there}")
