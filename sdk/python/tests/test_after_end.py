# SPDX-License-Identifier: Apache-2.0
"""A context that is used while its run ends, or later: by a thread, by a task, by whoever kept it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import random
import threading
import time
from typing import Any, Callable, Dict, Iterator, List

import pytest

import cairn

ENDED = 'the run of "f" has ended'


@pytest.fixture
def db() -> Iterator[cairn.Engine]:
    with cairn.open("memory:") as engine:
        yield engine


@pytest.fixture
def app() -> cairn.App:
    return cairn.App()


def one() -> int:
    return 1


# Every method that asks for something, of both kinds of context.
CALLS: Dict[str, Callable[[Any], Any]] = {
    "step": lambda ctx: ctx.step("a", one),
    "sleep": lambda ctx: ctx.sleep(0),
    "sleep_until": lambda ctx: ctx.sleep_until(datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)),
    "wait_event": lambda ctx: ctx.wait_event("paid"),
    "now": lambda ctx: ctx.now(),
    "random": lambda ctx: ctx.random(),
    "uuid": lambda ctx: ctx.uuid(),
    "enqueue": lambda ctx: ctx.enqueue("mail.v1", 1),
    "start": lambda ctx: ctx.start("f"),
    "call": lambda ctx: ctx.call("f"),
    "gather": lambda ctx: ctx.gather(cairn.step("g", one), cairn.step("h", one)),
    "debug": lambda ctx: ctx.log.debug("x"),
    "info": lambda ctx: ctx.log.info("x", n=1),
    "warning": lambda ctx: ctx.log.warning("x"),
    "error": lambda ctx: ctx.log.error("x"),
}


def ask(ctx: Any, name: str) -> Any:
    """Makes a call, also of an AsyncContext, whose own loop may be gone."""
    answer = CALLS[name](ctx)
    return asyncio.run(answer) if asyncio.iscoroutine(answer) else answer


def test_all_methods_are_asked_for() -> None:
    plain = {"stop", "state", "log", "task", "codec", "passage", "version", "instance_id"}
    own = {"enter_call", "leave_call", "write_log", "end_run", "wait_idle", "decode", "job", "instance", "off_loop",
           "off_loop_whole"}
    for kind in (cairn.Context, cairn.AsyncContext):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert public - plain - own <= set(CALLS), kind


@pytest.mark.parametrize("is_async", [False, True])
def test_every_call_after_the_end_is_misuse(db: cairn.Engine, app: cairn.App, is_async: bool) -> None:
    kept: List[Any] = []

    def code(ctx: cairn.Context) -> int:
        kept.append(ctx)
        return 7

    async def async_code(ctx: cairn.AsyncContext) -> int:
        kept.append(ctx)
        return 7

    function = app.function("f")(async_code if is_async else code)
    with db.worker(app):
        run = db.start(function)
        assert run.result(timeout=30) == 7
    for name in CALLS:
        with pytest.raises(cairn.Misuse, match=ENDED):
            ask(kept[0], name)
    assert kept[0].stop is None and kept[0].instance_id == run.id and kept[0].version == 1


def test_two_steps_at_once_on_the_loop_fail_the_run_and_nothing_else(db: cairn.Engine, app: cairn.App) -> None:
    ended: List[str] = []
    may_end = threading.Event()

    async def slow() -> str:
        ended.append("begun")
        while not may_end.is_set():
            await asyncio.sleep(0.001)
        ended.append("slow")
        return "slow"

    @app.function("f")
    async def f(ctx: cairn.AsyncContext) -> List[Any]:
        first = asyncio.ensure_future(ctx.step("a", slow))
        while not ended:
            await asyncio.sleep(0)
        threading.Timer(0.05, may_end.set).start()
        return list(await asyncio.gather(first, ctx.step("b", one)))

    @app.task("other.v1")
    def other(n: int) -> int:
        may_end.wait(30)
        return n + 1

    with db.worker(app, concurrency=4):
        job = db.enqueue(other, 1)
        run = db.start(f)
        with pytest.raises(cairn.InstanceFailed, match='"b" was called while "a" is under way'):
            run.result(timeout=30)
        assert ended == ["begun", "slow"]  # its code was waited for
        assert job.result(timeout=30) == 2
    assert [step.name for step in run.steps() if step.kind == "task"] == []


def test_a_forgotten_task_is_waited_for_and_fails_the_run(db: cairn.Engine, app: cairn.App) -> None:
    told: List[BaseException] = []

    async def forgotten(ctx: cairn.AsyncContext) -> None:
        try:
            await ctx.step("a", lambda: asyncio.sleep(0.05))
        except BaseException as error:
            told.append(error)

    @app.function("f")
    async def f(ctx: cairn.AsyncContext) -> None:
        ctx.state["task"] = asyncio.ensure_future(forgotten(ctx))
        while ctx.state["task"].done() is False and ctx._busy is None:
            await asyncio.sleep(0.001)

    with db.worker(app, state={}):
        run = db.start(f)
        with pytest.raises(cairn.InstanceFailed, match='the function ended while "a" is under way'):
            run.result(timeout=30)
    assert isinstance(told[0], cairn.Misuse)
    assert [step.name for step in run.steps() if step.kind == "task"] == []


def test_a_thread_in_a_step_is_waited_for_and_fails_the_run(db: cairn.Engine, app: cairn.App) -> None:
    begun, told = threading.Event(), []

    def slow() -> None:
        begun.set()
        time.sleep(0.05)

    def left(ctx: cairn.Context) -> None:
        try:
            ctx.step("a", slow)
        except BaseException as error:
            told.append(error)

    @app.function("f")
    def f(ctx: cairn.Context) -> None:
        ctx.state.append(threading.Thread(target=left, args=(ctx,)))
        ctx.state[0].start()
        begun.wait(30)

    threads: List[threading.Thread] = []
    with db.worker(app, state=threads):
        run = db.start(f)
        with pytest.raises(cairn.InstanceFailed, match='the function ended while "a" is under way'):
            run.result(timeout=30)
    threads[0].join(30)
    assert isinstance(told[0], cairn.Misuse) and ENDED in str(told[0])


def test_a_step_that_does_not_end_is_waited_for_as_long_as_its_lease(db: cairn.Engine, app: cairn.App) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def stuck() -> None:
        begun.set()
        may_end.wait(60)

    @app.function("f")
    def f(ctx: cairn.Context) -> None:
        thread = threading.Thread(target=lambda: pytest.raises(cairn.Misuse, ctx.step, "a", stuck))
        ctx.state.append(thread)
        thread.start()
        begun.wait(30)

    threads: List[threading.Thread] = []
    with db.worker(app, lease="2s", state=threads):
        with pytest.raises(cairn.InstanceFailed, match='"a" is under way'):
            db.start(f).result(timeout=60)
        assert not may_end.is_set()
        may_end.set()
        for thread in threads:
            thread.join(30)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_thousand_interleavings_of_every_call_with_the_end(db: cairn.Engine, app: cairn.App, is_async: bool) -> None:
    """Never a signal: a call is answered, with a value, an error of its own, or Misuse."""
    rng = random.Random(26)
    threads: List[threading.Thread] = []
    strange: List[BaseException] = []
    names = sorted(CALLS)

    def go_on(ctx: Any, seed: int) -> None:
        own = random.Random(seed)
        for _ in range(own.randrange(4)):
            try:
                ask(ctx, own.choice(names))
            except (cairn.CairnError, cairn.Suspended, cairn.Stopped):
                pass
            except BaseException as error:
                strange.append(error)

    begun = threading.Semaphore(0)

    def leave_behind(ctx: Any) -> None:
        for _ in range(2):
            thread = threading.Thread(target=go_on, args=(ctx, rng.random()))
            thread.start()
            threads.append(thread)
        begun.release()

    def code(ctx: cairn.Context, turns: int) -> int:
        leave_behind(ctx)
        for _ in range(turns):
            time.sleep(0)
        return 1

    async def async_code(ctx: cairn.AsyncContext, turns: int) -> int:
        leave_behind(ctx)
        for _ in range(turns):
            await asyncio.sleep(0)
        return 1

    function = app.function("f")(async_code if is_async else code)
    with db.worker(app, concurrency=4):
        for _ in range(0, 500, 50):
            runs = [db.start(function, rng.randrange(5)) for _ in range(50)]
            for _ in runs:
                assert begun.acquire(timeout=60)
            while threads:
                threads.pop().join()
            for run in runs:
                with contextlib.suppress(cairn.CairnError):
                    run.abort(by="t", reason="t")  # a call of a thread may have suspended it
    while threads:
        threads.pop().join()
    assert strange == []
