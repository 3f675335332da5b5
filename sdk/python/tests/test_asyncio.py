# SPDX-License-Identifier: Apache-2.0
"""Coroutines: the async engine, async handlers, and what must not block a loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Awaitable, Callable, List, Optional, TypeVar

import pytest

import cairn
import cairn.aio
from cairn._handles import InstanceHandle, JobHandle

LONG = 120
T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(main(), 2 * LONG)

    return asyncio.run(bounded())


def test_the_same_names() -> None:
    own = {"close_within", "ask", "pages", "decode_again", "look", "result_of", "engine", "result_type", "aio"}
    for sync, other in ((cairn.Engine, cairn.aio.AsyncEngine), (JobHandle, cairn.aio.AsyncJobHandle),
                        (InstanceHandle, cairn.aio.AsyncInstanceHandle)):
        for name, method in inspect.getmembers(sync):
            if name.startswith("_") or name in own or not callable(method):
                continue
            theirs = getattr(other, name)
            if name in ("enqueue", "start"):
                continue  # overloaded
            assert list(inspect.signature(theirs).parameters) == list(inspect.signature(method).parameters), name


def test_calls(url: str, ) -> None:
    async def main() -> None:
        async with cairn.aio.open(url) as db:
            assert db.url == db.sync.url and db.sync.aio is db
            job = await db.enqueue("mail.v1", {"to": "ann"}, key="k")
            assert (await db.enqueue("mail.v1", key="k")).existing
            assert [found.id async for found in db.jobs()] == [job.id]
            await db.deploy("{workflow: pay, version: 1, steps: [{wait: settled, event: paid}]}")
            pay = await db.start("pay", 7)
            assert (await pay.signal("paid", id="s")).taken
            assert await pay.result(timeout=LONG) is not None
            assert [event.subject async for event in db.events()][0] == job.id
            await job.cancel()
            with pytest.raises(cairn.JobCancelled):
                await job.result(timeout=LONG)
            with pytest.raises(cairn.NotFound):
                await db.dlq_record("1")
            with pytest.raises(cairn.TimedOut):
                await (await db.enqueue("mail.v1")).result(timeout="20ms")
            assert (await db.stats())["pending"] == 1
        with pytest.raises(cairn.Closed):
            await db.stats()

    run(main)


def test_async_and_sync_handlers_in_one_worker(url: str) -> None:
    app = cairn.App()
    loops: List[Any] = []
    threads: List[Any] = []

    @app.task("async.v1")
    async def fetch(task: cairn.Task, n: int) -> int:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        assert cairn.current_task() is task
        return n

    @app.task("sync.v1")
    def compute(n: int) -> int:
        threads.append(threading.current_thread())
        return -n

    async def main() -> List[int]:
        async with cairn.aio.open(url) as db:
            async with db.worker(app, concurrency=50, prefetch=50):
                jobs = await db.enqueue_many([cairn.JobSpec(fetch if n % 2 else compute, n) for n in range(60)])
                found = await asyncio.gather(*(job.result(timeout=LONG) for job in jobs))
            assert set(loops) == {asyncio.get_running_loop()} and threading.current_thread() not in threads
            return list(found)

    assert run(main) == [n if n % 2 else -n for n in range(60)]


def test_async_handlers_under_run(url: str) -> None:
    app = cairn.App()

    @app.task("bad.v1")
    async def bad() -> None:
        raise ValueError("no")

    @app.task("good.v1")
    async def good(n: int) -> int:
        await asyncio.sleep(0.001)
        return n

    with cairn.open(url) as db:
        failed = db.enqueue(bad, max_attempts=1)
        jobs = [db.enqueue(good, n) for n in range(10)]
        assert db.work(app, until_idle=True, concurrency=5) == 11
        assert [job.result(timeout=LONG) for job in jobs] == list(range(10))
        assert failed.get().last_error == "ValueError: no"


def test_a_cancelled_coroutine(url: str) -> None:
    app = cairn.App()
    story: List[Optional[str]] = []
    started = threading.Event()

    @app.task("slow.v1")
    async def slow(task: cairn.Task) -> None:
        started.set()
        try:
            await asyncio.sleep(LONG)
        finally:
            story.append(task.stop)

    with cairn.open(url) as db:
        with db.worker(app, look="50ms"):
            job = db.enqueue(slow)
            assert started.wait(LONG)
            job.cancel()
        assert story == ["cancelled"] and job.status() == "cancelled"


def test_a_coroutine_that_cancels_itself_has_failed() -> None:
    app = cairn.App()

    @app.task("odd.v1")
    async def odd() -> None:
        raise asyncio.CancelledError

    with cairn.open("memory:") as db:
        job = db.enqueue(odd, max_attempts=1)
        db.work(app, until_idle=True)
        assert job.get().last_error in ("CancelledError", None)


def test_cancelling_arun_is_a_stop(url: str) -> None:
    app = cairn.App()

    @app.task("slow.v1")
    async def slow() -> str:
        started.set()
        while not workers[0].is_stopping:
            await asyncio.sleep(0.001)
        return "finished"

    started = threading.Event()
    workers: List[cairn.Worker] = []

    async def main() -> None:
        async with cairn.aio.open(url) as db:
            job = await db.enqueue(slow)
            workers.append(db.worker(app))
            running = asyncio.ensure_future(workers[0].arun())
            while not started.is_set():
                await asyncio.sleep(0.001)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert await job.result(timeout=LONG) == "finished"
            assert await db.worker(app).arun(until_idle=True) == 0

    run(main)


def test_grace_of_coroutines() -> None:
    app = cairn.App()
    started = threading.Event()

    @app.task("slow.v1")
    async def slow() -> None:
        started.set()
        await asyncio.sleep(LONG)

    with cairn.open("memory:") as db:
        job = db.enqueue(slow)
        worker = db.worker(app, grace=0)
        worker.start()
        assert started.wait(LONG)
        worker.stop()
        row = job.get()
        assert (row.status, row.attempt) == ("pending", 0)


def test_a_thousand_coroutines(url: str) -> None:
    app = cairn.App()
    together = 0
    most = 0

    @app.task("wait.v1")
    async def wait() -> None:
        nonlocal together, most
        together += 1
        most = max(most, together)
        while most < 500:
            await asyncio.sleep(0.01)
        together -= 1

    with cairn.open(url) as db:
        db.enqueue_many([cairn.JobSpec(wait) for _ in range(1000)])
        assert db.work(app, until_idle=True, concurrency=1000) == 1000
        assert most >= 500 and db.stats()["lease_expiries"] == 0


def test_what_blocks_is_refused_on_a_loop() -> None:
    app = cairn.App()
    app.task("a.v1")(lambda: None)

    async def main() -> None:
        with cairn.open("memory:") as db:
            job, instance = db.enqueue("a.v1"), db.instance("x")
            for call in (job.wait, job.result, instance.wait, instance.result, lambda: db.work(app),
                         lambda: db.worker(app).run()):
                with pytest.raises(cairn.Misuse) as caught:
                    call()
                assert "await " in caught.value.hint
            db.worker(app)  # not refused

    run(main)


def test_an_engine_is_awaited_or_entered() -> None:
    async def main() -> None:
        db = await cairn.aio.open("memory:")
        assert await db.now()
        await db.close()
        await db.close()

    run(main)


def test_following_events() -> None:
    async def main() -> None:
        async with cairn.aio.open("memory:") as db:
            seen: List[str] = []

            async def follow() -> None:
                async for event in db.events(follow=True):
                    seen.append(event.type)

            task = asyncio.ensure_future(follow())
            await db.enqueue("a.v1")
            while not seen:
                await asyncio.sleep(0.01)
            task.cancel()
            assert seen == ["created"]

    run(main)
