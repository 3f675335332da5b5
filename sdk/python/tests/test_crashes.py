# SPDX-License-Identifier: Apache-2.0
"""Worker processes that are killed at random: no job is lost, all end once, none begins after its cancel."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import List

import pytest

import cairn

WORKER = """
import asyncio, sys, cairn
app = cairn.App()

@app.task("sync.v1")
def sync(task: cairn.Task, n: int) -> int:
    task.wait(0.002)
    task.check()
    return n

@app.task("async.v1")
async def other(n: int) -> int:
    await asyncio.sleep(0.002)
    return n

@app.function("steps")
def steps(ctx: cairn.Context, n: int) -> int:
    a = ctx.step("a", lambda: n)
    ctx.sleep("1ms")
    return a + ctx.step("b", lambda: 1)

with cairn.open(sys.argv[1]) as db:
    print("works", flush=True)
    db.work(app, concurrency=8, lease=1, look="200ms", prefetch=4)
"""

JOBS, FUNCTIONS, PROCESSES, KILLS = 200, 30, 3, 8
LONG = 120


def start(folder: Path, url: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(Path(cairn.__file__).parents[1])}
    process = subprocess.Popen([sys.executable, str(folder / "worker.py"), url], env=environment,
                               stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"works\n"
    return process


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_workers_that_are_killed(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    url: str = request.getfixturevalue(kind + "_url")
    dice = random.Random(7)
    (tmp_path / "worker.py").write_text(WORKER)
    processes: List["subprocess.Popen[bytes]"] = []
    with cairn.open(url) as db:
        jobs = db.enqueue_many(
            cairn.JobSpec(dice.choice(["sync.v1", "async.v1"]), n, max_attempts=100) for n in range(JOBS))
        db.deploy('{"function": "steps", "version": 1, "dlq": false, "max_attempts": 3}')
        try:
            processes.extend(start(tmp_path, url) for _ in range(PROCESSES))
            runs = [db.start("steps", n) for n in range(FUNCTIONS)]
            cancelled = []
            for _ in range(KILLS):
                victim = dice.randrange(PROCESSES)
                os.kill(processes[victim].pid, signal.SIGKILL)
                processes[victim].communicate()
                for job in dice.sample(jobs, 3):
                    try:
                        job.cancel()
                        cancelled.append(job.id)
                    except cairn.WrongState:
                        pass  # it has ended
                processes[victim] = start(tmp_path, url)
            until = time.monotonic() + LONG
            rows = [job.wait(timeout=max(0.0, until - time.monotonic())) for job in jobs]
            results = [run.wait(timeout=max(0.0, until - time.monotonic())) for run in runs]
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.communicate(timeout=LONG)
        assert [row.status for row in rows] == ["cancelled" if row.id in cancelled else "succeeded" for row in rows]
        assert [row.result for row in rows if row.status == "succeeded"] == \
            [n for n, row in enumerate(rows) if row.status == "succeeded"]
        assert [(run.status, run.output) for run in results] == [("completed", n + 1) for n in range(FUNCTIONS)]
        for job in jobs:
            types = [event.type for event in job.events()]
            assert sum(name in ("succeeded", "cancelled", "failed") for name in types) == 1, types
            assert types[-1] == ("cancelled" if job.id in cancelled else "succeeded"), types
