# SPDX-License-Identifier: Apache-2.0
"""Workers: outcomes, leases, stops and ends, on every kind of store."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import pytest

import cairn

LONG = 120  # seconds; no test waits so long unless it fails


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


@pytest.fixture
def app() -> cairn.App:
    return cairn.App()


def until(is_so: Callable[[], bool]) -> None:
    """Waits for something that no call waits for."""
    end = time.monotonic() + LONG
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def work(db: cairn.Engine, app: cairn.App, **options: Any) -> int:
    return db.work(app, until_idle=True, **options)


# ---- outcomes


def test_results(db: cairn.Engine, app: cairn.App) -> None:
    app.task("echo.v1")(lambda value: value)
    values: List[Any] = [None, 1, "x", [1, {"a": None}], {}]
    jobs = [db.enqueue("echo.v1", value) for value in values]
    assert work(db, app) == len(values)
    assert [job.result(timeout=LONG) for job in jobs] == values


class Odd(Exception):
    pass


OUTCOMES: "List[Tuple[Any, Dict[str, Any], str, Optional[str]]]" = [
    (ValueError("no"), {"max_attempts": 1}, "failed", "ValueError: no"),
    (Odd(), {"max_attempts": 1}, "failed", "Odd"),
    (KeyError("k"), {"max_attempts": 5}, "failed", "KeyError: 'k'"),
    (cairn.Dead("gone"), {"max_attempts": 5}, "failed", "gone"),
    (cairn.Dead(Odd("gone")), {"max_attempts": 5}, "failed", "Odd: gone"),
    (cairn.Retry("busy", after="1h"), {}, "pending", "busy"),
    (cairn.Retry(Odd("busy")), {}, "pending", "Odd: busy"),
    (cairn.Retry("busy", after="nonsense"), {"max_attempts": 1}, "failed", "ValueError: not a duration"),
    (cairn.Release(after="1h"), {}, "pending", None),
    (cairn.WaitFor("paid"), {"max_attempts": 1}, "failed", "Misuse: only steps can wait"),
    (cairn.Stopped("mine"), {}, "pending", None),
    (SystemExit(3), {"max_attempts": 1}, "failed", "SystemExit: 3"),
    (ValueError("\ud800\0"), {"max_attempts": 1}, "failed", "ValueError: \\ud800\\0"),
]


@pytest.mark.parametrize("raised, options, status, error", OUTCOMES)
def test_what_handlers_raise(app: cairn.App, raised: BaseException, options: Any, status: str,
                             error: Optional[str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: List[int] = []
    if "\ud800" in str(raised):        # no text: pytest-xdist cannot send a log that holds it
        monkeypatch.setattr(logging.getLogger("cairn"), "propagate", False)

    @app.task("bad.v1", dead_on=(KeyError,))
    def bad(task: cairn.Task) -> None:
        calls.append(task.attempt)
        if isinstance(raised, cairn.Stopped) and len(calls) > 1:
            raise cairn.Release(after=3600)
        raise raised

    with cairn.open("memory:", virtual_clock=True) as db:
        job = db.enqueue(bad, **options)
        work(db, app)
        row = job.get()
        assert row.status == status and (row.last_error or "").startswith(error or "")
        assert row.attempt == (0 if error is None else 1) and calls[0] == 1


def test_what_cannot_be_written_is_a_failed_attempt(db: cairn.Engine, app: cairn.App) -> None:
    app.task("bad.v1")(lambda: object())
    app.task("large.v1")(lambda: "x" * (1 << 20))
    app.task("good.v1")(lambda: 1)
    bad, large = db.enqueue("bad.v1", max_attempts=1), db.enqueue("large.v1", max_attempts=1)
    good = [db.enqueue("good.v1") for _ in range(5)]
    work(db, app, prefetch=10)
    assert (bad.get().last_error or "").startswith("BadPayload: cannot encode")
    assert (large.get().last_error or "").startswith("the outcome was refused: ")
    assert [job.result(timeout=LONG) for job in good] == [1] * 5


@dataclass
class Mail:
    to: str


def test_a_payload_that_does_not_fit(db: cairn.Engine, app: cairn.App) -> None:
    called: List[Any] = []

    @app.task("mail.v1")
    def mail(payload: Mail) -> None:
        called.append(payload)

    @app.task("later.v1")
    async def later(task: cairn.Task, payload: Mail) -> None:
        called.append(payload)

    @app.task("undo.v1")
    def undo(undo: "cairn.Undo[Mail, None]") -> None:
        called.append(undo)

    bad = [db.enqueue(name, payload, max_attempts=3)
           for name, payload in (("mail.v1", {"to": 1}), ("later.v1", "x"), ("undo.v1", {"input": {"to": "x"}}))]
    db.enqueue(mail, Mail("ann"))
    work(db, app)
    assert [job.get().last_error for job in bad] == [
        "BadPayload: to: expected str, got a number", "BadPayload: expected an object, got text",
        "BadPayload: a compensation gets input and output; this task is a job"]
    assert [(job.get().status, job.get().attempt) for job in bad] == [("failed", 1)] * 3
    assert called == [Mail("ann")]


def test_an_input_that_does_not_fit_ends_the_step(db: cairn.Engine, app: cairn.App) -> None:
    @app.task("ship")
    def ship(payload: Mail) -> None:
        raise AssertionError("it is not called")

    flow = cairn.Workflow("post")
    flow.step("ship", max_attempts=3)
    db.deploy(flow)
    run = db.start("post", {"to": [1]})
    work(db, app)
    found = run.get()
    assert (found.status, found.error) == ("failed", "BadPayload: to: expected str, got a list")


class Picky:
    """A codec that does not read texts with an X."""

    def encode(self, value: Any) -> str:
        return str(cairn._codec.DEFAULT.encode(value))

    def decode(self, text: str, type: Any) -> Any:
        if "X" in text:
            raise cairn.BadPayload("an X")
        return cairn._codec.DEFAULT.decode(text, type)


def test_a_signal_that_cannot_be_read_ends_the_step(app: cairn.App) -> None:
    calls: List[int] = []

    @app.task("ship")
    def ship(task: cairn.Task) -> None:
        calls.append(task.attempt)
        raise cairn.WaitFor("paid")

    flow = cairn.Workflow("post")
    flow.step("ship", max_attempts=3)
    with cairn.open("memory:", codec=Picky()) as db:
        db.deploy(flow)
        run = db.start("post")
        work(db, app)
        run.signal("paid", "X")
        work(db, app)
        assert (run.status(), run.get().error, calls) == ("failed", "BadPayload: an X", [1])


def test_shapes_of_handlers(db: cairn.Engine, app: cairn.App) -> None:
    @app.task("none.v1")
    def none() -> str:
        return "none"

    @app.task("task.v1")
    def task_only(task: cairn.Task) -> str:
        return task.type

    @app.task("both.v1")
    def both(task: cairn.Task, payload: int) -> str:
        return f"{task.type} {payload}"

    class Thing:
        def method(self, payload: int) -> int:
            return payload + 1

        def __call__(self, payload: int) -> int:
            return payload + 2

    app.task("method.v1")(Thing().method)
    app.task("object.v1")(Thing())
    jobs = [db.enqueue(name, 1) for name in ("none.v1", "task.v1", "both.v1", "method.v1", "object.v1")]
    work(db, app)
    assert [job.result(timeout=LONG) for job in jobs] == ["none", "task.v1", "both.v1 1", 2, 3]


def test_exact_types_go_before_prefixes(db: cairn.Engine, app: cairn.App) -> None:
    def register(pattern: str) -> None:
        app.task(pattern)(lambda: pattern)

    for pattern in ("%", "a.%", "a.b.%", "a.b.c"):
        register(pattern)
    jobs = [db.enqueue(name) for name in ("a.b.c", "a.b.d", "a.x", "z")]
    work(db, app)
    assert [job.result(timeout=LONG) for job in jobs] == ["a.b.c", "a.b.%", "a.%", "%"]


# ---- steps


def test_a_map_that_only_counts(db: cairn.Engine, app: cairn.App) -> None:
    @app.task("count.one")
    def one(n: int) -> int:
        if n == 3:
            raise cairn.Dead("not this one")
        return 10 * n

    wf = cairn.Workflow("count")
    with wf.map("each", "{{ .list }}", join=3, collect=False):
        wf.step("one", handler="count.one", max_attempts=1)
    db.deploy(wf)
    run = db.start("count", {"list": [1, 2, 3, 4]})
    work(db, app)
    assert run.result(timeout=LONG) == {"count": 4, "completed": 3, "failed": 1}


def test_steps_wait_emit_and_undo(db: cairn.Engine, app: cairn.App) -> None:
    delivered: List[Any] = []

    @app.task("pay")
    def pay(task: cairn.Task, order: Dict[str, Any]) -> Dict[str, Any]:
        if task.signal is None:
            task.emit("asked", {"n": 1})
            raise cairn.WaitFor("paid")
        task.emit("got", task.signal.payload)
        return {"paid": task.signal.payload, "key": task.key}

    @app.task("ship")
    def ship(order: Dict[str, Any]) -> None:
        raise cairn.Dead("no parcel")

    @app.task("refund")
    def refund(undo: "cairn.Undo[Dict[str, Any], Dict[str, Any]]") -> None:
        delivered.append(("refund", undo.input["id"], undo.output["paid"]))

    @app.outbox
    def deliver(event: cairn.OutboxEvent) -> None:
        delivered.append((event.step, event.event, event.payload))

    db.deploy("{workflow: order, version: 1, steps: [{step: pay, compensation: {handler: refund}}, {step: ship}]}")
    order = db.start("order", {"id": 7})
    work(db, app)
    assert order.status() in ("running", "waiting_signal")
    order.signal("paid", 420)
    work(db, app)
    row = order.get()
    assert (row.status, row.error) == ("failed", "no parcel")
    assert delivered == [("pay", "asked", {"n": 1}), ("refund", 7, 420), ("pay", "got", 420)]


def test_an_event_that_is_not_delivered_comes_again(app: cairn.App) -> None:
    seen: List[Any] = []

    @app.task("ship")
    def ship(task: cairn.Task) -> None:
        task.emit("first")
        task.emit("second")

    @app.outbox
    async def deliver(event: cairn.OutboxEvent) -> None:
        seen.append(event.event)
        if len(seen) == 1:
            raise OSError("no network")

    with cairn.open("memory:", virtual_clock=True) as db:
        db.deploy("{workflow: order, version: 1, steps: [{step: ship}]}")
        db.start("order")
        work(db, app)
        assert seen == ["first"]
        db.call("POST", "/v1/clock/advance", {"ms": 31_000})
        work(db, app)
        assert seen == ["first", "first", "second"]


def test_deadline_and_metadata(db: cairn.Engine, app: cairn.App) -> None:
    seen: List[Any] = []

    @app.task("timed")
    def timed(task: cairn.Task) -> None:
        seen.append((task.deadline is not None and task.deadline > db.now(), task.metadata))

    @app.task("mail.v1")
    def mail(task: cairn.Task) -> None:
        seen.append((task.deadline, task.metadata))

    db.deploy("{workflow: w, version: 1, steps: [{step: timed, timeout: 1h, metadata: {a: 1}}]}")
    db.start("w", metadata={"b": 2})
    work(db, app)
    db.enqueue(mail, metadata={"tenant": "x"})
    work(db, app)
    assert seen == [(True, {"a": 1, "b": 2}), (None, {"tenant": "x"})]


# ---- leases and stops


def test_a_cancelled_handler_is_told(db: cairn.Engine, app: cairn.App) -> None:
    started = threading.Event()
    reasons: List[Optional[str]] = []

    @app.task("slow.v1")
    def slow(task: cairn.Task) -> None:
        started.set()
        reasons.append(task.wait(LONG))
        task.check()

    with db.worker(app, look="50ms"):
        job = db.enqueue(slow)
        assert started.wait(LONG)
        job.cancel()
    assert reasons == ["cancelled"] and job.status() == "cancelled"


def test_leases_are_extended_while_every_thread_is_busy(app: cairn.App) -> None:
    release = threading.Event()
    calls: List[int] = []

    @app.task("slow.v1")
    def slow(task: cairn.Task) -> Optional[str]:
        calls.append(task.attempt)
        release.wait(LONG)
        return task.stop

    with cairn.open("memory:", virtual_clock=True) as db:  # no lease ends by itself
        jobs = [db.enqueue(slow) for _ in range(2)]
        with db.worker(app, concurrency=2, lease="60ms", look=LONG):
            until(lambda: db.stats()["heartbeats"] >= 8)
            release.set()
        assert [job.result(timeout=LONG) for job in jobs] == [None, None] and calls == [1, 1]


def test_a_lost_lease_is_told(app: cairn.App) -> None:
    reasons: List[Optional[str]] = []
    started = threading.Event()

    @app.task("slow.v1")
    def slow(task: cairn.Task) -> None:
        if task.attempt == 1:
            started.set()
            reasons.append(task.wait(LONG))
            task.check()

    with cairn.open("memory:", virtual_clock=True) as db:
        job = db.enqueue(slow)
        with db.worker(app, look="20ms"):
            assert started.wait(LONG)
            db.call("POST", "/v1/clock/advance", {"ms": 60_000})
            assert job.wait(timeout=LONG).status == "succeeded"
    assert reasons == ["lease_lost"]


# ---- ends


def test_stop_lets_handlers_finish(db: cairn.Engine, app: cairn.App) -> None:
    started, go_on = threading.Event(), threading.Event()

    @app.task("slow.v1")
    def slow(task: cairn.Task) -> Optional[str]:
        started.set()
        go_on.wait(LONG)
        return task.stop

    job = db.enqueue(slow)
    worker = db.worker(app)
    worker.start()
    assert started.wait(LONG)
    thread = threading.Thread(target=worker.stop)
    thread.start()
    go_on.set()
    thread.join(LONG)
    worker.stop()
    assert job.result(timeout=LONG) is None
    assert db.enqueue(slow).status() == "pending"


def test_grace_ends_with_shutdown_and_a_release(db: cairn.Engine, app: cairn.App) -> None:
    started, over = threading.Semaphore(0), threading.Event()

    @app.task("polite.v1")
    def polite(task: cairn.Task) -> None:
        started.release()
        assert task.wait(LONG) == "shutdown"
        task.check()

    @app.task("stubborn.v1")
    def stubborn() -> None:
        started.release()
        over.wait(LONG)

    jobs = [db.enqueue(polite), db.enqueue(stubborn)]
    worker = db.worker(app, grace="10ms")
    worker.start()
    for _ in jobs:
        assert started.acquire(timeout=LONG)
    worker.stop()
    rows = [job.get() for job in jobs]
    assert [(row.status, row.attempt) for row in rows] == [("pending", 0), ("pending", 0)]
    over.set()


def test_prefetched_tasks_are_released_at_once(db: cairn.Engine, app: cairn.App) -> None:
    started, go_on = threading.Event(), threading.Event()
    calls: List[int] = []

    @app.task("slow.v1")
    def slow(n: int) -> None:
        calls.append(n)
        started.set()
        go_on.wait(LONG)

    jobs = db.enqueue_many([cairn.JobSpec(slow, n) for n in range(10)])
    worker = db.worker(app, concurrency=1, prefetch=20)
    worker.start()
    assert started.wait(LONG)
    until(lambda: db.stats()["leased"] == 10)
    worker.ask_stop()
    until(lambda: db.stats()["leased"] == 1)
    go_on.set()
    worker.stop()
    assert calls == [0] and [job.status() for job in jobs] == ["succeeded"] + ["pending"] * 9


def test_without_prefetch_only_what_is_executed_is_held(db: cairn.Engine, app: cairn.App) -> None:
    go_on, started = threading.Event(), threading.Semaphore(0)

    @app.task("slow.v1")
    def slow() -> None:
        started.release()
        go_on.wait(LONG)

    db.enqueue_many([cairn.JobSpec(slow) for _ in range(9)])
    with db.worker(app, concurrency=3):
        for _ in range(3):
            assert started.acquire(timeout=LONG)
        assert db.stats()["leased"] == 3
        go_on.set()
        until(lambda: db.stats()["pending"] == 0)


def test_until_idle_ends_when_everything_is_done(db: cairn.Engine, app: cairn.App) -> None:
    @app.task("chain.v1")
    def chain(task: cairn.Task, n: int) -> int:
        if n:
            task.db.enqueue("chain.v1", n - 1)
        return n

    db.enqueue(chain, 5)
    assert work(db, app) == 6
    assert work(db, app) == 0


def test_many_jobs(db: cairn.Engine, app: cairn.App) -> None:
    seen: List[int] = []
    app.task("note.v1")(lambda n: seen.append(n))
    db.enqueue_many([cairn.JobSpec("note.v1", n) for n in range(1500)])
    assert work(db, app, concurrency=4, prefetch=256) == 1500
    assert sorted(seen) == list(range(1500)) and not list(db.jobs(status="pending", limit=1))


# ---- what surrounds handlers


def test_lifespan_around_and_state(db: cairn.Engine, app: cairn.App) -> None:
    story: List[str] = []

    @app.lifespan
    def live() -> Iterator[str]:
        story.append("open")
        yield "the state"
        story.append("close")

    def note(name: str) -> Any:
        @contextlib.contextmanager
        def around(task: cairn.Task) -> Iterator[None]:
            story.append(f"{name} before")
            yield
            story.append(f"{name} after")
        return around

    app.around(note("outer"))
    app.around(note("inner"))

    @app.task("say.v1")
    def say(task: cairn.Task) -> None:
        assert cairn.current_task() is task
        story.append(task.state)

    db.enqueue(say)
    work(db, app)
    assert story == ["open", "outer before", "inner before", "the state", "inner after", "outer after", "close"]
    story.clear()
    db.enqueue(say)
    work(db, app, state="given")
    assert story == ["outer before", "inner before", "given", "inner after", "outer after"]


def test_a_lifespan_that_fails_ends_run(app: cairn.App) -> None:
    @app.lifespan
    def live() -> Iterator[None]:
        raise OSError("no network")
        yield

    app.task("a.v1")(lambda: None)
    with cairn.open("memory:") as db:
        with pytest.raises(OSError):
            db.work(app)


def test_include(db: cairn.Engine, app: cairn.App) -> None:
    other = cairn.App()
    other.task("a.v1")(lambda: "a")
    app.task("b.v1")(lambda: "b")
    app.include(other)
    with pytest.raises(cairn.Misuse):
        app.include(other)
    jobs = [db.enqueue("a.v1"), db.enqueue("b.v1")]
    work(db, app)
    assert [job.result(timeout=LONG) for job in jobs] == ["a", "b"]


def test_log_records_carry_the_task(db: cairn.Engine, app: cairn.App, caplog: pytest.LogCaptureFixture) -> None:
    @app.task("bad.v1", dead_on=(KeyError,))
    def bad(task: cairn.Task, name: str) -> None:
        task.log.info("mine", extra={"own": 1})
        raise KeyError(name) if name == "dead" else ValueError(name)

    with caplog.at_level(logging.INFO, "cairn"):
        failed, dead = db.enqueue(bad, "fail", key="k"), db.enqueue(bad, "dead")
        work(db, app, name="w1", concurrency=1)
    by_level = {record.levelname: record for record in caplog.records if hasattr(record, "cairn_task")}
    assert by_level["WARNING"].__dict__["cairn_task"] == failed.id and by_level["WARNING"].exc_info is not None
    assert by_level["WARNING"].__dict__["cairn_key"] == "k" and by_level["WARNING"].__dict__["cairn_worker"] == "w1"
    assert by_level["ERROR"].__dict__["cairn_task"] == dead.id
    assert by_level["INFO"].__dict__["own"] == 1 and by_level["INFO"].name == "cairn.worker"


# ---- misuse


def test_misuse(app: cairn.App) -> None:
    with cairn.open("memory:") as db:
        with pytest.raises(cairn.Misuse, match="no handlers"):
            db.work(cairn.App(), until_idle=True)
        app.task("a.v1")(lambda: None)
        worker = db.worker(app)
        worker.run(until_idle=True)
        with pytest.raises(cairn.Misuse, match="runs once"):
            worker.run()
        with pytest.raises(cairn.Misuse, match="handler already"):
            app.task("a.v1")(lambda: None)
        for n in range(101):
            app.task(f"many.{n}")(lambda: None)
        with pytest.raises(cairn.Misuse, match="102 types"):
            db.work(app, until_idle=True)
        app.task("many.%")(lambda: None)
        assert db.work(app, until_idle=True) == 0
        with pytest.raises(ValueError):
            app.task("a%b")
        with pytest.raises(ValueError):
            db.worker(app, concurrency=0)
        with pytest.raises(ValueError, match="runtime 'Go' must be"):
            db.worker(app, runtime="Go")
        with pytest.raises(cairn.BadInput, match='runtime "Go" must be'):
            db.registry_put("a.v1", runtime="Go")
        three = cairn.App()
        three.task("c.v1")(lambda a, b, c: None)  # type: ignore[call-overload]
        with pytest.raises(cairn.Misuse, match="takes 3 arguments"):
            db.work(three, until_idle=True)


def test_a_worker_that_the_registry_refuses(db: cairn.Engine, app: cairn.App) -> None:
    db.registry_put("a.v1", runtime="go")
    app.task("a.v1")(lambda: None)
    with pytest.raises(cairn.WrongRuntime):
        db.work(app)
    job = db.enqueue("a.v1")
    work(db, app, runtime=None)
    assert job.status() == "succeeded"


def test_a_stop_from_a_handler(db: cairn.Engine, app: cairn.App) -> None:
    workers: List[cairn.Worker] = []
    app.task("stop.v1")(lambda: workers[0].stop())
    workers.append(db.worker(app))
    job = db.enqueue("stop.v1")
    assert workers[0].run() == 1 and job.status() == "succeeded"


def test_closing_the_engine_stops_its_workers(url: str, app: cairn.App) -> None:
    app.task("a.v1")(lambda: 1)
    db = cairn.open(url)
    worker = db.worker(app)
    worker.start()
    assert db.enqueue("a.v1").result(timeout=LONG) == 1
    db.close()
    assert worker.has_ended
