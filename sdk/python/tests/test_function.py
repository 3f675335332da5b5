# SPDX-License-Identifier: Apache-2.0
"""Durable functions, sync and async, on every kind of store."""

from __future__ import annotations

import asyncio
import threading
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Optional, Tuple

import pytest

import cairn

LONG = 120


@pytest.fixture
def app() -> cairn.App:
    return cairn.App()


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


@pytest.fixture
def still() -> Iterator[cairn.Engine]:
    """Time stands still until a test moves it."""
    with cairn.open("memory:", virtual_clock=True, start="2030-01-01T00:00:00Z", seed=1) as engine:
        yield engine


def work(db: cairn.Engine, app: cairn.App, **options: Any) -> int:
    return db.work(app, until_idle=True, **options)


def advance(db: cairn.Engine, ms: int) -> None:
    assert db.call("POST", "/v1/clock/advance", {"ms": ms})[0] == 200


@dataclass
class Order:
    item: str
    count: int = 1


def test_steps_are_executed_once(db: cairn.Engine, app: cairn.App) -> None:
    calls: List[str] = []

    def charge(order: Order) -> Order:
        calls.append(order.item)
        return Order(order.item, order.count + 1)

    @app.function("buy")
    def buy(ctx: cairn.Context, order: Order) -> Dict[str, Any]:
        first = ctx.step("charge", charge, order)
        assert isinstance(first, Order)
        ctx.sleep("1ms")
        again = ctx.step("charge", charge, first)
        return {"count": again.count, "version": ctx.version, "id": ctx.instance_id, "stop": ctx.stop}

    run = db.start(buy, Order("book"))
    with db.worker(app):
        result = run.result(timeout=LONG)
    assert result == {"count": 3, "version": 1, "id": run.id, "stop": None} and calls == ["book", "book"]
    assert [step.name for step in run.steps()] == ["buy", "charge", "sleep", "charge#2"]


def test_values_stay_the_same(still: cairn.Engine, app: cairn.App) -> None:
    seen: List[Any] = []

    @app.function("values")
    def values(ctx: cairn.Context) -> None:
        seen.append((ctx.now(), ctx.random(), ctx.uuid()))
        ctx.sleep_until("2030-01-02T00:00:00Z")
        ctx.log.info("woken", at=str(ctx.now()))

    run = still.start(values)
    assert work(still, app) == 1 and run.status() in ("running", "waiting_signal")
    advance(still, 86_400_000)
    assert work(still, app) == 1 and run.status() == "completed"
    assert len(seen) == 2 and seen[0] == seen[1]
    at, random, made = seen[0]
    assert at == datetime(2030, 1, 1, tzinfo=timezone.utc) and 0 <= random < 1 and isinstance(made, uuid.UUID)
    assert [(line.level, line.message) for line in run.logs()] == [("info", "woken")]


def test_events_and_their_timeout(still: cairn.Engine, app: cairn.App) -> None:
    @app.function("wait")
    def wait(ctx: cairn.Context) -> str:
        try:
            order = ctx.wait_event("packed", Order, timeout="1h")
            return order.item
        except cairn.TimedOut:
            return "nothing came"

    packed, late = still.start(wait), still.start(wait)
    work(still, app)
    packed.signal("packed", Order("book"))
    advance(still, 3_600_000)
    work(still, app)
    assert (packed.result(), late.result()) == ("book", "nothing came")


def test_a_step_that_fails_is_tried_again(still: cairn.Engine, app: cairn.App) -> None:
    attempts: List[Tuple[int, Optional[str]]] = []

    def flaky() -> str:
        task = cairn.current_task()
        attempts.append((task.attempt, task.key))
        if task.attempt < 3:
            raise OSError("no network")
        return "done"

    @app.function("retry")
    def retry(ctx: cairn.Context) -> str:
        return ctx.step("flaky", flaky, backoff=cairn.Backoff("fixed", "10s"))

    run = still.start(retry)
    for _ in range(3):
        work(still, app)
        advance(still, 10_000)
    assert run.result(timeout=0) == "done"
    assert attempts == [(n, f"{run.id}:flaky") for n in (1, 2, 3)]


def test_step_failed_can_be_caught(db: cairn.Engine, app: cairn.App) -> None:
    causes: List[Optional[BaseException]] = []
    text = "x" * 1000

    def bad() -> None:
        raise ValueError(text)

    @app.function("careful")
    def careful(ctx: cairn.Context) -> str:
        try:
            ctx.step("bad", bad, retries=0)
        except cairn.StepFailed as error:
            causes.append(error.__cause__)
            assert (error.key, error.attempts, error.error) == ("bad", 1, "ValueError: " + text)
        ctx.sleep("1ms")
        return "went on"

    run = db.start(careful)
    with db.worker(app):
        assert run.result(timeout=LONG) == "went on"
    assert isinstance(causes[0], ValueError) and causes[1] is None


@pytest.mark.parametrize("raised, text, step", [
    (ValueError("no"), "ValueError: no", "bad"), (cairn.Dead("gone"), "gone", "bad"), (KeyError("k"), "KeyError: 'k'", "bad"),
    (cairn.Release(), "Misuse: the code of a function's step cannot raise Release", "bad")])
def test_a_failed_step_that_is_passed_on_fails_the_function(app: cairn.App, still: cairn.Engine, raised: Exception,
                                                           text: str, step: str) -> None:
    def bad() -> None:
        raise raised

    @app.function("careless")
    def careless(ctx: cairn.Context) -> None:
        ctx.step("bad", bad, retries=0, dead_on=(KeyError,))

    run = still.start(careless)
    work(still, app)
    with pytest.raises(cairn.InstanceFailed) as caught:
        run.result(timeout=0)
    error = caught.value.instance.last_error
    assert error is not None and (error["message"], error["step"]) == (text, step)


def test_an_exception_fails_the_function(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("broken")
    def broken(ctx: cairn.Context) -> None:
        raise LookupError("what")

    run = db.start(broken)
    work(db, app)
    assert (run.status(), run.get().error) == ("failed", "LookupError: what")


def test_what_cannot_be_returned_or_read(still: cairn.Engine, app: cairn.App) -> None:
    @app.function("out")
    def out(ctx: cairn.Context) -> Any:
        return object()

    @app.function("in")
    def into(ctx: cairn.Context, order: Order) -> None: ...

    runs = [still.start(out), still.start("out"), still.start(into, 7)]  # type: ignore[arg-type]
    work(still, app)
    assert [run.get().error.split(":")[0] for run in runs] == ["BadPayload"] * 3


def test_a_signal_that_does_not_fit_fails_the_function(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("pay")
    def pay(ctx: cairn.Context) -> int:
        return ctx.wait_event("paid", int)

    run = db.start(pay)
    run.signal("paid", "much")
    work(db, app)
    assert (run.status(), run.get().error) == ("failed", "BadPayload: expected int, got text")


def test_suspended_cannot_be_swallowed(still: cairn.Engine, app: cairn.App) -> None:
    finals: List[str] = []

    @app.function("greedy")
    def greedy(ctx: cairn.Context) -> str:
        try:
            ctx.sleep("1h")
        except Exception:
            raise AssertionError("Suspended is no Exception")
        except BaseException:
            pass
        finally:
            finals.append("finally")
        try:
            ctx.now()
        except cairn.Suspended:
            finals.append("again")
        return "too early"

    run = still.start(greedy)
    work(still, app)
    assert run.status() != "completed" and finals == ["finally", "again"]
    advance(still, 3_600_000)
    work(still, app)
    assert run.result(timeout=0) == "too early"


def test_compensations(db: cairn.Engine, app: cairn.App) -> None:
    undone: List[Any] = []

    @app.task("refund.v1")
    def refund(undo: "cairn.Undo[Order, int]") -> None:
        undone.append((undo.input.item, undo.output))

    @app.task("log.v1")
    def log(undo: "cairn.Undo[List[int], None]") -> None:
        undone.append(undo.input)

    def charge(order: Order) -> int:
        return 420

    @app.function("order")
    def order(ctx: cairn.Context, what: Order) -> None:
        ctx.step("charge", charge, what, compensation=refund)
        ctx.step("two", lambda a, b: None, 1, 2, compensation=cairn.Compensation(log, max_attempts=1))
        raise RuntimeError("too late")

    run = db.start(order, Order("book"))
    work(db, app)
    assert run.status() == "failed" and undone == [[1, 2], ("book", 420)]


def test_a_compensation_has_retries_a_time_limit_and_metadata_of_its_own(db: cairn.Engine, app: cairn.App) -> None:
    undone: List[Any] = []

    @app.task("refund.v1")
    def refund(task: cairn.Task, undo: "cairn.Undo[Any, int]") -> None:
        assert task.deadline is not None
        undone.append((task.attempt, task.max_attempts, task.metadata))
        if task.attempt < 5:
            raise RuntimeError("not yet")

    @app.task("call_back.v1")
    def call_back(task: cairn.Task, undo: "cairn.Undo[Any, Any]") -> None:
        undone.append((task.attempt, task.max_attempts, task.metadata))
        raise RuntimeError("cannot")

    @app.function("order")
    def order(ctx: cairn.Context) -> None:
        ctx.step("charge", lambda: 420, compensation=cairn.Compensation(
            refund, max_attempts=5, retry=cairn.Backoff("fixed", 0, jitter=0.5), timeout="1h", metadata={"n": 1}))
        ctx.step("call", lambda: None, compensation=cairn.Compensation(call_back, idempotent=False))
        raise RuntimeError("too late")

    run = db.start(order, metadata={"tenant": 7, "n": 0})
    work(db, app)
    assert run.status() == "failed"
    assert undone == [(1, 1, {"tenant": 7, "n": 0})] + [(n, 5, {"tenant": 7, "n": 1}) for n in range(1, 6)]
    assert [record.step_name for record in db.dlq()] == ["call"]


@pytest.mark.parametrize("options, error", [
    ({"retry": cairn.Backoff("fixed", jitter=0.5), "max_attempts": -1}, cairn.BadInput),
    ({"metadata": {"a": "x" * 9000}}, cairn.TooLarge),
    ({"metadata": ["a"]}, TypeError),
])
def test_a_compensation_that_cannot_be_is_refused(db: cairn.Engine, app: cairn.App, options: Any, error: Any) -> None:
    @app.function("order")
    def order(ctx: cairn.Context) -> str:
        with pytest.raises(error):
            ctx.step("charge", lambda: 420, compensation=cairn.Compensation("refund", **options))
        return "refused"

    run = db.start(order)
    work(db, app)
    assert run.result(timeout=LONG) == "refused"


def test_jobs_and_instances_are_started_once(db: cairn.Engine, app: cairn.App) -> None:
    @app.task("child.v1")
    def child(n: int) -> int:
        return n

    @app.function("small")
    def small(ctx: cairn.Context, n: int) -> int:
        return n * 2

    @app.function("parent")
    def parent(ctx: cairn.Context) -> List[str]:
        ids = [ctx.enqueue(child, 1), ctx.enqueue("child.v1", 2, step="second", key="k", priority=3, max_attempts=2),
               ctx.start(small, 4), ctx.start("small", 5, step="named", key="k")]
        ctx.sleep("1ms")
        return ids

    run = db.start(parent)
    with db.worker(app):
        ids = run.result(timeout=LONG)
        assert [db.job(id).result(timeout=LONG) for id in ids[:2]] == [1, 2]
        assert [db.instance(id).result(timeout=LONG) for id in ids[2:]] == [8, 10]
    assert len(list(db.jobs())) == 2 and len(list(db.instances(workflow="small"))) == 2


def test_one_call_at_a_time(still: cairn.Engine, app: cairn.App) -> None:
    @app.function("nested")
    def nested(ctx: cairn.Context) -> None:
        ctx.step("outer", lambda: ctx.step("inner", lambda: 1), retries=0)

    @app.function("side")
    async def side(ctx: cairn.AsyncContext) -> None:
        await asyncio.gather(ctx.sleep("1h", step="a"), ctx.sleep("1h", step="b"))

    runs = [still.start(nested), still.start(side)]
    work(still, app)
    assert '"inner" was called while "outer" is under way' in runs[0].get().error
    assert '"b" was called while "a" is under way' in runs[1].get().error or runs[1].status() != "completed"


def test_code_of_another_version(still: cairn.Engine, app: cairn.App) -> None:
    @app.function("change")
    def old(ctx: cairn.Context) -> None:
        ctx.step("a", lambda: 1)
        ctx.sleep("1h")

    run = still.start(old)
    work(still, app)
    newer = cairn.App()

    @newer.function("change", version=2, from_version=1)
    def new(ctx: cairn.Context) -> str:
        try:
            ctx.sleep("1h", step="b")
        except Exception:
            raise AssertionError("it is no Exception")
        return "new"

    advance(still, 3_600_000)
    work(still, newer)
    assert run.status() == "paused" and "version_mismatch" in run.get().error
    run.resume(force=True)
    work(still, newer)
    advance(still, 3_600_000)
    work(still, newer)
    assert still.instance(run.id).result(timeout=0) == "new"


def test_versions_are_given_to_their_code(still: cairn.Engine) -> None:
    both = cairn.App()
    first = both.function("f", version=1)(lambda ctx: 1)
    second = both.function("f", version=2)(lambda ctx: 2)
    runs = [still.start(first), still.start(second), still.start("f")]
    work(still, both)
    assert [run.result(timeout=0) for run in runs] == [1, 2, 2]
    with pytest.raises(cairn.Misuse):
        both.function("f", version=2)(lambda ctx: 2)
    changed = cairn.App()
    changed.function("f", version=2, dlq=True)(lambda ctx: 2)
    with pytest.raises(cairn.Conflict):
        work(still, changed)


def test_cancel_undoes_what_a_passage_has_done(url: str, app: cairn.App) -> None:
    """Also what was not yet committed when the function was stopped."""
    started = threading.Event()
    undone: List[Any] = []

    @app.task("undo.v1")
    def undo(what: "cairn.Undo[None, str]") -> None:
        undone.append(what.output)

    def slow() -> None:
        started.set()
        cairn.current_task().wait(LONG)
        cairn.current_task().check()

    @app.function("long", commit="passage")
    def long(ctx: cairn.Context) -> None:
        ctx.step("first", lambda: "first", compensation=undo)
        ctx.step("slow", slow, retries=0)

    with cairn.open(url) as db:
        run = db.start(long)
        with db.worker(app, look="50ms"):
            assert started.wait(LONG)
            run.cancel(by="ann", reason="enough")
            with pytest.raises(cairn.InstanceCancelled):
                run.result(timeout=LONG)
    assert undone == ["first"]


def test_shutdown_releases_a_function(db: cairn.Engine, app: cairn.App) -> None:
    started = threading.Event()
    calls: List[str] = []

    def slow() -> str:
        calls.append("slow")
        if len(calls) == 1:
            started.set()
            cairn.current_task().wait(LONG)
            cairn.current_task().check()
        return "done"

    @app.function("long")
    def long(ctx: cairn.Context) -> List[str]:
        return [ctx.step("first", lambda: "first"), ctx.step("slow", slow)]

    run = db.start(long)
    worker = db.worker(app, grace=0)
    worker.start()
    assert started.wait(LONG)
    worker.stop()
    assert run.status() == "running"
    [step] = [step for step in run.steps() if step.name == "first"]
    assert step.status == "completed"
    work(db, app)
    assert run.result(timeout=LONG) == ["first", "done"]


# ---- async


def test_async_functions(db: cairn.Engine, app: cairn.App) -> None:
    calls: List[str] = []

    async def fetch(path: str) -> int:
        await asyncio.sleep(0)
        calls.append(cairn.current_task().key or "")
        return len(path)

    @app.function("pages")
    async def pages(ctx: cairn.AsyncContext, path: str) -> Dict[str, Any]:
        size = await ctx.step("fetch", fetch, path)
        plain = await ctx.step("plain", lambda: 5)
        await ctx.sleep("1ms")
        job = await ctx.enqueue("note.v1", size)
        now, random, made = await ctx.now(), await ctx.random(), await ctx.uuid()
        ctx.log.info("fetched", size=size)
        reply = await ctx.wait_event("reply", str)
        return {"size": size, "plain": plain, "reply": reply, "job": job, "all": bool(now and random and made)}

    app.task("note.v1")(lambda n: n)
    run = db.start(pages, "/a/b")
    with db.worker(app, concurrency=10):
        run.signal("reply", "thanks")
        result = run.result(timeout=LONG)
    assert (result["size"], result["plain"], result["reply"], result["all"]) == (4, 5, "thanks", True)
    assert calls == [f"{run.id}:fetch"] and [line.data for line in run.logs()] == [{"size": 4}]


def test_async_functions_fail_and_are_cancelled(db: cairn.Engine, app: cairn.App) -> None:
    started = threading.Event()

    async def bad() -> None:
        raise ValueError("no")

    async def slow() -> None:
        started.set()
        await asyncio.sleep(LONG)

    @app.function("bad")
    async def fail(ctx: cairn.AsyncContext) -> None:
        await ctx.step("bad", bad, retries=0)

    @app.function("slow")
    async def wait(ctx: cairn.AsyncContext) -> None:
        await ctx.step("slow", slow)

    failed, cancelled = db.start(fail), db.start(wait)
    with db.worker(app, look="50ms"):
        with pytest.raises(cairn.InstanceFailed):
            failed.result(timeout=LONG)
        assert started.wait(LONG)
        cancelled.cancel(by="ann", reason="enough")
        with pytest.raises(cairn.InstanceCancelled):
            cancelled.result(timeout=LONG)
    assert failed.get().error == "ValueError: no"


def test_a_sync_function_cannot_await(still: cairn.Engine, app: cairn.App) -> None:
    async def fetch() -> None: ...

    @app.function("mixed")
    def mixed(ctx: cairn.Context) -> None:
        ctx.step("fetch", fetch)

    run = still.start(mixed)
    work(still, app)
    assert 'the code of step "fetch" is async' in run.get().error


# ---- side by side, and children


def test_steps_side_by_side(db: cairn.Engine, app: cairn.App) -> None:
    barrier = threading.Barrier(3)
    calls: List[str] = []

    def meet(name: str) -> str:
        calls.append(cairn.current_task().step or "")
        barrier.wait(LONG)  # all three run at the same time
        return name.upper()

    @app.function("fan")
    def fan(ctx: cairn.Context) -> List[str]:
        results = ctx.gather(*[cairn.step(name, meet, name) for name in "abc"])
        ctx.sleep("1ms")
        return [*results, ctx.step("d", lambda: "D")]

    run = db.start(fan)
    with db.worker(app):
        assert run.result(timeout=LONG) == ["A", "B", "C", "D"]
    assert sorted(calls) == ["a", "b", "c"]
    assert [step.name for step in run.steps()] == ["fan", "a", "b", "c", "sleep", "d"]


def test_async_steps_side_by_side(db: cairn.Engine, app: cairn.App) -> None:
    started: List[str] = []

    async def meet(name: str) -> str:
        started.append(name)
        while len(started) < 3:
            await asyncio.sleep(0.001)
        return name.upper()

    @app.function("fan")
    async def fan(ctx: cairn.AsyncContext) -> List[str]:
        results = await ctx.gather(*[cairn.step(name, meet, name) for name in "abc"])
        await ctx.sleep("1ms")
        return [*results, *await ctx.gather()]

    run = db.start(fan)
    with db.worker(app):
        assert run.result(timeout=LONG) == ["A", "B", "C"]
    assert sorted(started) == ["a", "b", "c"]


def test_a_step_side_by_side_fails_or_is_tried_again(still: cairn.Engine, app: cairn.App) -> None:
    calls: List[str] = []

    def good() -> int:
        calls.append("good")
        return 1

    def flaky() -> int:
        calls.append("flaky")
        if cairn.current_task().attempt == 1:
            raise OSError("no network")
        return 2

    def bad() -> int:
        calls.append("bad")
        raise ValueError("no")

    @app.function("fan")
    def fan(ctx: cairn.Context) -> List[Any]:
        first = ctx.gather(cairn.step("flaky", flaky, backoff=cairn.Backoff("fixed", "1h")), cairn.step("good", good))
        try:
            ctx.gather(cairn.step("bad", bad, retries=0), cairn.step("good", good))
        except cairn.StepFailed as error:
            return [*first, error.key, error.error]
        return []

    run = still.start(fan)
    work(still, app)
    assert sorted(calls) == ["flaky", "good"]
    advance(still, 3_600_000)
    work(still, app)
    assert run.result(timeout=0) == [2, 1, "bad", "ValueError: no"]
    assert sorted(calls) == ["bad", "flaky", "flaky", "good", "good"]


def test_children(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("child")
    def child(ctx: cairn.Context, n: int) -> Order:
        if n < 0:
            raise ValueError("negative")
        ctx.sleep("1ms")
        return Order("child", n)

    @app.function("parent")
    def parent(ctx: cairn.Context, n: int) -> Dict[str, Any]:
        order = ctx.call(child, n)
        assert isinstance(order, Order)
        plain = ctx.call("child", n + 1, step="second")
        try:
            ctx.call(child, -1, step="third")
        except cairn.StepFailed as error:
            return {"first": order.count, "second": plain["count"], "third": error.error}
        return {}

    @app.function("other")
    async def other(ctx: cairn.AsyncContext, n: int) -> int:
        return (await ctx.call(child, n)).count

    runs = [db.start(parent, 1), db.start(other, 7)]
    with db.worker(app):
        assert runs[0].result(timeout=LONG) == {"first": 1, "second": 2, "third": "ValueError: negative"}
        assert runs[1].result(timeout=LONG) == 7
    assert {row.parent for row in db.instances(workflow="child")} == {run.id for run in runs}


def test_a_child_that_takes_too_long(still: cairn.Engine, app: cairn.App) -> None:
    @app.function("child")
    def child(ctx: cairn.Context) -> None:
        ctx.sleep("1d")

    @app.function("parent")
    def parent(ctx: cairn.Context) -> str:
        try:
            ctx.call(child, timeout="1h")
        except cairn.TimedOut:
            return "too long"
        return "in time"

    run = still.start(parent)
    work(still, app)
    advance(still, 3_600_000)
    work(still, app)
    assert run.result(timeout=0) == "too long"
