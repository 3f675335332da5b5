# SPDX-License-Identifier: Apache-2.0
"""Worker processes that are killed at random: no job is lost, all end once, none begins after its cancel.

The handlers write a log of their own, which is compared with the rows and events of the store.  On
PostgreSQL the test has a server of its own, which it also kills.  Seeds and counts are fixed; what
happens when is decided by how far the handlers have come, not by the clock.
"""

from __future__ import annotations

import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Counter, Dict, Iterator, List, NamedTuple, Optional, Set

import pytest

import cairn

ROOT = Path(__file__).parents[3]
LONG = 120  # seconds until a test that makes no progress has failed
LEASE = "5s"  # a process of many threads, or of a thousand coroutines, extends its leases in time, on a slow machine, too
IS_LONG = bool(os.environ.get("CAIRN_TEST_LONG"))
MORE = 12 if IS_LONG else 1

# Each line of the log has the same length, so that its size says how many there are.
WORKER = """
import asyncio, os, sys, time, cairn
url, path, concurrency, lease = sys.argv[1:]
log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
app = cairn.App()
running = 0

def note(word, id):
    os.write(log, f"{word:5} {id} {os.getpid():08} {time.monotonic_ns():020}\\n".encode())

@app.task("sync.v1")
def sync(task: cairn.Task, n: int) -> list:
    note("begin", task.id)
    task.wait(n % 10 / 1000)
    task.check()
    note("end", task.id)
    return [n, os.getpid()]

@app.task("async.v1")
async def other(task: cairn.Task, n: int) -> list:
    note("begin", task.id)
    await asyncio.sleep(n % 10 / 1000)
    note("end", task.id)
    return [n, os.getpid()]

@app.task("stay.v1")        # until it is cancelled
def stay(task: cairn.Task) -> None:
    note("begin", task.id)
    while task.stop != "cancelled":
        if task.wait(3600) != "cancelled":
            task.check()
    note("stop", task.id)
    task.check()

@app.task("crowd.v1")       # until all of them have been there at the same time
async def crowd(task: cairn.Task, size: int) -> list:
    global running
    note("begin", task.id)
    running += 1
    try:
        while running < size and not os.path.exists(path + ".crowd"):
            await asyncio.sleep(0.01)
        os.close(os.open(path + ".crowd", os.O_CREAT | os.O_WRONLY, 0o600))
    finally:
        running -= 1
    note("end", task.id)
    return [size, os.getpid()]

@app.function("steps", max_attempts=1000)
def steps(ctx: cairn.Context, n: int) -> int:
    a = ctx.step("a", lambda: n)
    ctx.sleep("1ms")
    return a + ctx.step("b", lambda: 1)

@app.lifespan
def ready():                # signals are taken from now on
    os.close(os.open(f"{path}.{os.getpid()}", os.O_CREAT | os.O_WRONLY, 0o600))
    yield None

def connect():              # a server that was killed is not there at once
    while True:
        try:
            return cairn.open(url)
        except cairn.Unreachable:
            time.sleep(0.05)

with connect() as db:
    db.work(app, concurrency=int(concurrency), lease=lease, look="200ms", prefetch=0)
"""
LINE = len(f"begin {'-' * 36} {0:08} {0:020}\n")
FINAL = ("succeeded", "failed", "cancelled")


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Until the condition is true; it fails after LONG seconds."""
    until = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.002)


class Note(NamedTuple):
    """A line of the handlers' log."""

    word: str
    id: str
    pid: int
    at_ns: int


class Cancelled(NamedTuple):
    """A cancel that was acknowledged."""

    at_ns: int
    is_alone: bool  # no worker was alive


class Server:
    """A PostgreSQL server that may be killed."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="cairn-pg-", dir="/tmp")  # short: a socket's path may have 107 bytes
        self._restart: Optional["subprocess.Popen[bytes]"] = None
        found = subprocess.run(self._command("start"), env=self._environment(), check=True, capture_output=True, text=True)
        self.url = found.stdout.splitlines()[0].partition("=")[2]

    @staticmethod
    def _environment() -> Dict[str, str]:
        return {**os.environ, "CAIRN_PRIVATE_NO_PGBOUNCER": "1"}

    def _command(self, verb: str) -> List[str]:
        return [str(ROOT / "scripts/private-postgres"), verb, self.folder + "/pg"]

    def restart(self) -> None:
        """Like a crash.  It goes on while the caller does."""
        self.await_restart()
        self._restart = subprocess.Popen(self._command("restart"), env=self._environment(), stdout=subprocess.DEVNULL)

    def await_restart(self) -> None:
        if self._restart is not None:
            assert self._restart.wait(LONG) == 0, "the server did not start again"

    def stop(self) -> None:
        self.await_restart()
        subprocess.run(self._command("stop"), env=self._environment(), check=True)
        os.rmdir(self.folder)


class Scene:
    """Worker processes, the log of their handlers, and what the test has asked for."""

    def __init__(self, folder: Path, db: cairn.Engine, url: str, processes: int, concurrency: int, lease: str) -> None:
        self.db = db
        self.dice = random.Random(7)
        self.jobs: Dict[str, int] = {}  # by id: the number that it was enqueued with
        self.cancelled: Dict[str, Cancelled] = {}
        self.refused: Set[str] = set()  # it had ended; or the answer was lost, and the second try was refused
        self.kills = 0
        self._folder = folder
        self._path = folder / "handlers.log"
        (folder / "worker.py").write_text(WORKER)
        self._arguments = [url, str(self._path), str(concurrency), lease]
        self._processes = [self._start() for _ in range(processes)]

    # ---- processes

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "PYTHONPATH": str(Path(cairn.__file__).parents[1])}
        with open(self._folder / "workers.err", "ab") as errors:
            return subprocess.Popen([sys.executable, str(self._folder / "worker.py"), *self._arguments],
                                    env=environment, stdout=errors, stderr=errors)

    def said(self) -> str:
        return (self._folder / "workers.err").read_text()[-4000:]

    def kill(self, victims: List[int], meanwhile: Callable[[], None]) -> None:
        """Kills these processes and starts others; `meanwhile` is called when they are dead."""
        for victim in victims:
            assert self._processes[victim].poll() is None, self.said()
            os.kill(self._processes[victim].pid, signal.SIGKILL)
        for victim in victims:
            self._processes[victim].wait()
        self.kills += len(victims)
        meanwhile()
        for victim in victims:
            self._processes[victim] = self._start()

    def kill_some(self, meanwhile: Callable[[], None]) -> None:
        self.kill([self.dice.randrange(len(self._processes))], meanwhile)

    def kill_all(self, meanwhile: Callable[[], None]) -> None:
        self.kill(list(range(len(self._processes))), meanwhile)

    def end(self) -> None:
        """SIGTERM: each lets its handlers finish, and succeeds."""
        ready = [Path(f"{self._path}.{process.pid}") for process in self._processes]
        eventually(lambda: all(path.exists() for path in ready), f"not all have started: {self.said()}")
        for process in self._processes:
            process.terminate()
        assert [process.wait(LONG) for process in self._processes] == [0] * len(self._processes), self.said()

    def abandon(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    # ---- the log

    def noted(self) -> int:
        """How many lines the log has."""
        return self._path.stat().st_size // LINE if self._path.exists() else 0

    def notes(self) -> List[Note]:
        found = [line.split() for line in self._path.read_text().splitlines()]
        return [Note(word, id, int(pid), int(at_ns)) for word, id, pid, at_ns in found]

    def running(self) -> Set[str]:
        """The jobs that processes which are alive have begun."""
        alive = {process.pid for process in self._processes}
        return {note.id for note in self.notes() if note.word == "begin" and note.pid in alive}

    # ---- jobs

    def enqueue(self, types: List[str], count: int) -> List[str]:
        """Jobs with keys, so that a call whose answer was lost can be repeated."""
        numbers = range(len(self.jobs), len(self.jobs) + count)
        specs = [cairn.JobSpec(self.dice.choice(types), n, key=f"job-{n}", max_attempts=1000) for n in numbers]
        found = [job.id for job in self.db.enqueue_many(specs)]
        self.jobs.update(zip(found, numbers))
        return found

    def cancel(self, ids: List[str], is_alone: bool) -> None:
        """Those that have not ended; when cancel() has returned, nothing may execute them any more."""
        for id in ids:
            try:
                self.db.job(id).cancel()
            except cairn.WrongState:
                self.refused.add(id)
            else:
                self.cancelled[id] = Cancelled(time.monotonic_ns(), is_alone)

    def cancel_some(self, count: int, is_alone: bool) -> None:
        self.cancel(self.dice.sample(sorted(self.jobs), count), is_alone)

    # ---- what must be true at the end

    def await_all(self) -> Dict[str, cairn.Job]:
        """Every job has ended, and there are no others."""
        def is_over() -> bool:
            stats = self.db.stats()
            return stats["pending"] + stats["leased"] == 0

        eventually(is_over, f"some jobs do not end: {self.said()}")
        rows = {row.id: row for row in self.db.jobs()}
        assert rows.keys() == self.jobs.keys()
        return rows

    def check(self, rows: Dict[str, cairn.Job]) -> None:
        events: Dict[str, List[str]] = collections.defaultdict(list)
        workers: Dict[str, str] = {}  # that was given the job last
        for event in self.db.events():
            events[event.subject].append(event.type)
            if event.type == "started":
                workers[event.subject] = event.data["worker"]
        begins: Dict[str, List[int]] = collections.defaultdict(list)
        ends: Counter[str] = collections.Counter()
        for note in self.notes():
            if note.word == "begin":
                begins[note.id].append(note.at_ns)
            if note.word == "end":
                ends[note.id] += 1
        for id, n in self.jobs.items():
            said = (id, rows[id], events[id], begins[id], self.cancelled.get(id))
            may_be = {"cancelled"} if id in self.cancelled else {"succeeded"}
            if id in self.refused and id not in self.cancelled:
                may_be = {"cancelled", "succeeded"}
            assert rows[id].status in may_be, said
            # It ended once, and nothing happened to it afterwards.
            assert [type for type in events[id] if type in FINAL] == [rows[id].status], said
            assert events[id][-1] == rows[id].status, said
            # Each claim was executed at most once; the result is of the process that had the last one.
            assert len(begins[id]) <= events[id].count("started"), said
            if rows[id].status == "succeeded":
                assert ends[id] >= 1, said
                assert rows[id].result[0] == n and f":{rows[id].result[1]}:" in workers[id], said
            # Whoever had claimed it before the cancel may have begun a moment after it, unless nobody was alive.
            if id in self.cancelled and self.cancelled[id].is_alone:
                assert all(at_ns < self.cancelled[id].at_ns for at_ns in begins[id]), said


@pytest.fixture
def own_server() -> Iterator[Server]:
    if os.geteuid() == 0:
        pytest.skip("PostgreSQL does not run as root")
    server = Server()
    try:
        yield server
    finally:
        server.stop()


# ---- many threads in several processes, and functions


PROCESSES, THREADS = 4, 8
JOBS, KILLS, STAYS, FUNCTIONS = 1200 * MORE, 10 * MORE, 12, 30


def act(scene: Scene, enqueue: Callable[[int], object], kills: int, restart: Callable[[], None]) -> None:
    """Kills, cancels and enqueues, each when the handlers have come so far; restarts the database twice."""
    restarts = {kills // 3, 2 * kills // 3}
    portion = JOBS // 2 // kills
    for turn in range(kills):
        noted = scene.noted()
        wanted = noted + scene.dice.randrange(1, portion)
        eventually(lambda: scene.noted() >= wanted, f"the handlers do not go on: {scene.said()}")
        if turn in restarts:
            restart()
        if turn % 4 == 3:
            scene.kill_all(lambda: scene.cancel_some(5, is_alone=True))
        else:
            scene.kill_some(lambda: scene.cancel_some(5, is_alone=False))
        enqueue(portion)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_four_processes_of_eight_threads(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    if kind == "postgres":
        server: Server = request.getfixturevalue("own_server")
        url, restart = server.url, server.restart
    else:
        url, restart = request.getfixturevalue("sqlite_url"), lambda: None
    with cairn.open(url, retry=LONG) as db:
        db.deploy('{"function": "steps", "version": 1, "dlq": false, "max_attempts": 1000}')
        scene = Scene(tmp_path, db, url, PROCESSES, THREADS, LEASE)
        try:
            scene.cancel(scene.enqueue(["sync.v1", "async.v1"], JOBS // 2)[:20], is_alone=False)
            stays = scene.enqueue(["stay.v1"], STAYS)
            runs = [db.start("steps", n, key=f"run-{n}") for n in range(FUNCTIONS)]
            act(scene, lambda count: scene.enqueue(["sync.v1", "async.v1"], count), KILLS, restart)
            left = set(stays) - scene.cancelled.keys()
            eventually(lambda: left <= scene.running(), f"not all stay: {scene.said()}")
            scene.cancel(sorted(left), is_alone=False)
            rows = scene.await_all()
            results = [run.wait(timeout=LONG) for run in runs]
            scene.end()
        finally:
            scene.abandon()
        scene.check(rows)
        assert [(run.status, run.output) for run in results] == [("completed", n + 1) for n in range(FUNCTIONS)]
        # Handlers hear of a cancel; those whose lease was lost in the same moment hear of that.
        told = {note.id for note in scene.notes() if note.word == "stop"}
        assert told <= set(stays) and len(told & left) > len(left) / 2
        assert len(scene.cancelled) > 20 + STAYS and scene.kills > KILLS


# ---- many coroutines in one process


CROWD = 1000
CROWD_KILLS = 6 * MORE


def test_a_thousand_coroutines_in_one_process(own_server: Server, tmp_path: Path) -> None:
    url = own_server.url
    with cairn.open(url, retry=LONG) as db:
        scene = Scene(tmp_path, db, url, 1, CROWD, LEASE)
        try:
            specs = [cairn.JobSpec("crowd.v1", CROWD, key=f"crowd-{n}", max_attempts=1000) for n in range(CROWD)]
            crowd = {job.id: CROWD for job in db.enqueue_many(specs)}
            eventually((tmp_path / "handlers.log.crowd").exists, "the handlers are not there at the same time")
            scene.enqueue(["async.v1"], JOBS // 2)
            restarts = {CROWD_KILLS // 3, 2 * CROWD_KILLS // 3}
            for turn in range(CROWD_KILLS):
                noted = scene.noted()
                wanted = noted + scene.dice.randrange(1, 200)
                eventually(lambda: scene.noted() >= wanted, f"the handlers do not go on: {scene.said()}")
                if turn in restarts:
                    own_server.restart()
                scene.kill_all(lambda: scene.cancel_some(10, is_alone=True))
                scene.enqueue(["async.v1"], 300)
            scene.jobs.update(crowd)
            rows = scene.await_all()
            scene.end()
        finally:
            scene.abandon()
        scene.check(rows)
        assert scene.kills == CROWD_KILLS and len(scene.cancelled) > CROWD_KILLS
