# SPDX-License-Identifier: Apache-2.0
"""Leases are kept by a thread that needs no interpreter."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from typing import Iterator

import pytest

import cairn


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


def hold_the_interpreter(ms: int) -> None:
    """Sleeps in C without letting any other thread of Python run."""
    ctypes.PyDLL(None).usleep(ms * 1000)


def test_a_handler_that_holds_the_interpreter_beyond_its_lease_is_called_once(db: cairn.Engine) -> None:
    app = cairn.App()
    calls = []

    @app.task("busy.v1")
    def busy(n: int) -> int:
        calls.append(n)
        hold_the_interpreter(1800)
        return n + 1

    job = db.enqueue(busy, 1)
    with db.worker(app, lease="1s"):
        assert job.result(timeout=60) == 2
    assert calls == [1] and job.get().attempt <= 1


STOPPED = """
import sys, cairn
app = cairn.App()

@app.task("slow.v1")
def slow(n: int) -> int:
    print("begun", flush=True)
    cairn.current_task().wait(60)
    return n

with cairn.open(sys.argv[1]) as db:
    db.work(app, lease="500ms")
"""


def test_a_process_that_is_stopped_loses_its_lease(sqlite_url: str) -> None:
    app = cairn.App()

    @app.task("slow.v1")
    def slow(n: int) -> int:
        return n + 1

    with cairn.open(sqlite_url) as db:
        job = db.enqueue("slow.v1", 1)
        command = [sys.executable, "-c", STOPPED, sqlite_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            try:
                assert worker.stdout is not None and worker.stdout.readline() == "begun\n"
                os.kill(worker.pid, signal.SIGSTOP)
                with db.worker(app):
                    assert job.result(timeout=60) == 2
            finally:
                worker.kill()
