# SPDX-License-Identifier: Apache-2.0
"""Steps of async functions whose caller gives them up: wait_for(), timeout(), cancel()."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Iterator, List

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


async def forever() -> None:
    await asyncio.sleep(LONG)


async def stubborn() -> None:
    """It answers a cancellation with an error of its own."""
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        raise OSError("the connection is closed") from None


async def give_up(call: "Awaitable[Any]", begun: asyncio.Event) -> Any:
    """Cancels a step whose code has begun; its result, if it has one all the same."""
    task = asyncio.ensure_future(call)
    await begun.wait()
    task.cancel()
    return await task


def names(run: "cairn.InstanceHandle[Any]") -> List[str]:
    return [step.name for step in run.steps()][1:]


@pytest.mark.parametrize("code", [forever, stubborn])
def test_nothing_is_remembered_of_a_step_that_is_given_up(db: cairn.Engine, app: cairn.App, code: Any,
                                                          caplog: pytest.LogCaptureFixture) -> None:
    runs: List[str] = []

    @app.function("patient")
    async def patient(ctx: cairn.AsyncContext) -> str:
        runs.append(ctx.instance_id)
        try:
            await asyncio.wait_for(ctx.step("a", code), 0.01)
            return "a"
        except asyncio.TimeoutError:
            other = await ctx.step("b", lambda: "b")
        await ctx.sleep("1ms")  # the next run comes by here again
        return other

    run = db.start(patient)
    with db.worker(app):
        assert run.result(timeout=LONG) == "b"
    assert len(runs) == 2 and names(run) == ["b", "sleep"]
    assert not [one for one in caplog.records if one.levelname in ("WARNING", "ERROR")]


def test_the_name_may_be_asked_for_again(db: cairn.Engine, app: cairn.App) -> None:
    seen: List[Any] = []

    async def third() -> int:
        task = cairn.current_task()
        seen.append((task.key, task.attempt))
        if len(seen) < 3:
            await asyncio.sleep(LONG)
        return len(seen)

    @app.function("again")
    async def again(ctx: cairn.AsyncContext) -> int:
        while True:
            try:
                answer = await asyncio.wait_for(ctx.step("a", third, retries=0), 0.01 if len(seen) < 2 else LONG)
                break
            except asyncio.TimeoutError:
                pass
        await ctx.sleep("1ms")
        return answer

    run = db.start(again)
    with db.worker(app):
        assert run.result(timeout=LONG) == 3
    assert seen == [(f"{run.id}:a", 1)] * 3 and names(run) == ["a", "sleep"]


def test_a_cancelled_task_raises_cancelled_error(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("cancels")
    async def cancels(ctx: cairn.AsyncContext) -> str:
        begun = asyncio.Event()

        async def code() -> None:
            begun.set()
            await asyncio.sleep(LONG)

        try:
            await give_up(ctx.step("a", code), begun)
        except asyncio.CancelledError:
            return "cancelled"
        return "not cancelled"

    run = db.start(cancels)
    with db.worker(app):
        assert run.result(timeout=LONG) == "cancelled"
    assert names(run) == []


def test_code_that_completes_all_the_same_is_remembered(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("deaf")
    async def deaf(ctx: cairn.AsyncContext) -> int:
        begun = asyncio.Event()

        async def code() -> int:
            begun.set()
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                pass
            return 7

        found: int = await give_up(ctx.step("a", code), begun)
        return found

    run = db.start(deaf)
    with db.worker(app):
        assert run.result(timeout=LONG) == 7
    assert names(run) == ["a"]


def test_a_retry_that_is_given_up_keeps_its_attempts(db: cairn.Engine, app: cairn.App) -> None:
    attempts: List[int] = []

    @app.function("flaky")
    async def flaky(ctx: cairn.AsyncContext) -> str:
        begun = asyncio.Event()

        async def code() -> str:
            attempts.append(cairn.current_task().attempt)
            if len(attempts) == 1:
                raise OSError("no network")
            begun.set()
            if len(attempts) == 2:
                await asyncio.sleep(LONG)
            return "done"

        fixed = cairn.Backoff("fixed", "1ms")
        try:
            await give_up(ctx.step("a", code, backoff=fixed), begun) if attempts else await ctx.step("a", code, backoff=fixed)
        except asyncio.CancelledError:
            pass
        return await ctx.step("a", code, backoff=fixed)

    run = db.start(flaky)
    with db.worker(app):
        assert run.result(timeout=LONG) == "done"
    assert attempts == [1, 2, 2]


def test_of_steps_side_by_side_those_that_have_ended_are_kept(db: cairn.Engine, app: cairn.App) -> None:
    @app.function("side")
    async def side(ctx: cairn.AsyncContext) -> str:
        ended = asyncio.Event()

        async def quick() -> int:
            ended.set()
            return 1

        task = asyncio.ensure_future(ctx.gather(cairn.step("slow", forever), cairn.step("quick", quick)))
        await ended.wait()
        task.cancel()
        try:
            await task
            return "not cancelled"
        except asyncio.CancelledError:
            return await ctx.step("after", lambda: "cancelled")

    run = db.start(side)
    with db.worker(app):
        assert run.result(timeout=LONG) == "cancelled"
    assert names(run) in (["quick", "after"], ["after"])
