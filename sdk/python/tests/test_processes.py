# SPDX-License-Identifier: Apache-2.0
"""Signals, forks, the command line, and the examples: each in processes of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import List, Tuple

import pytest

import cairn

LONG = 120
EXAMPLES = Path(__file__).parents[1] / "examples"


def environment() -> "dict[str, str]":
    return {**os.environ, "PYTHONPATH": str(Path(cairn.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}


def heed_sigint() -> None:
    """A shell that runs the tests in the background has them ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def python(tmp_path: Path, code: str) -> "subprocess.Popen[str]":
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(code))
    return subprocess.Popen([sys.executable, str(file)], cwd=tmp_path, env=environment(), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_sigint)


def finish(process: "subprocess.Popen[str]") -> Tuple[int, str, str]:
    out, err = process.communicate(timeout=LONG)
    return process.returncode, out, err


def read_until(process: "subprocess.Popen[str]", word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(f"{word!r} was not printed: {process.stderr.read() if process.stderr else ''}")


# ---- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops(tmp_path: Path, number: int) -> None:
    process = python(tmp_path, """
        import signal, threading, cairn
        app = cairn.App()
        @app.task("slow.v1")
        def slow(task: cairn.Task) -> str:
            print("started", flush=True)
            while not worker.is_stopping:
                task.wait(0.01)
            return "finished"
        before = signal.getsignal(signal.SIGTERM)
        with cairn.open("memory:") as db:
            jobs = [db.enqueue(slow), db.enqueue(slow)]
            worker = db.worker(app, concurrency=1)
            print("executed", worker.run(), [job.status() for job in jobs])
        assert signal.getsignal(signal.SIGTERM) is before
    """)
    read_until(process, "started")
    process.send_signal(number)
    assert finish(process) == (0, "executed 1 ['succeeded', 'pending']\n", "")


def test_the_second_signal_ends_the_grace(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import cairn
        app = cairn.App()
        @app.task("slow.v1")
        def slow(task: cairn.Task) -> None:
            print("started", flush=True)
            while not worker.is_stopping:
                task.wait(0.01)
            print("stopping", flush=True)
            print(task.wait(60), flush=True)
            task.check()
        with cairn.open("memory:") as db:
            job = db.enqueue(slow)
            worker = db.worker(app)
            worker.run()
            print(job.status(), job.get().attempt)
    """)
    read_until(process, "started")
    process.send_signal(signal.SIGINT)
    read_until(process, "stopping")
    process.send_signal(signal.SIGINT)
    assert finish(process) == (0, "shutdown\npending 0\n", "")


def test_without_signals_ctrl_c_is_an_exception(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import cairn
        app = cairn.App()
        @app.task("a.v1")
        def a() -> None:
            print("started", flush=True)
        with cairn.open("memory:") as db:
            db.enqueue(a)
            try:
                db.worker(app).run(signals=False)
            except KeyboardInterrupt:
                print("interrupted")
    """)
    read_until(process, "started")
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, out) == (0, "interrupted\n"), err


# The kernel may interrupt any thread with a signal, and Python's own handlers run when the main thread does something.
@pytest.mark.parametrize("number, options, said", [("SIGINT", "", "ended"), ("SIGTERM", "", "ended"),
                                                   ("SIGINT", "signals=False", "interrupted")])
def test_a_signal_that_interrupts_another_thread_arrives(tmp_path: Path, number: str, options: str, said: str) -> None:
    process = python(tmp_path, f"""
        import signal, threading, cairn
        app = cairn.App()
        @app.task("a.v1")
        def a() -> None:
            signal.pthread_kill(threading.get_ident(), signal.{number})
        with cairn.open("memory:") as db:
            db.enqueue(a)
            try:
                db.worker(app).run({options})
                print("ended")
            except KeyboardInterrupt:
                print("interrupted")
    """)
    assert finish(process) == (0, f"{said}\n", "")


def test_signals_are_taken_by_run_in_the_main_thread_only(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import asyncio, signal, threading, cairn
        before = [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)]
        story = []
        def look() -> None:
            found = [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)]
            story.append(["untouched" if a is b else "taken" for a, b in zip(before, found)])
        app = cairn.App()
        app.task("look.v1")(look)
        with cairn.open("memory:") as db:
            def work(**options) -> None:
                db.enqueue("look.v1")
                db.worker(app).run(until_idle=True, **options)
            work()
            work(signals=False)
            other = threading.Thread(target=work)
            other.start()
            other.join()
            with db.worker(app):
                db.enqueue("look.v1").wait(timeout=60)
            async def run() -> None:
                await db.aio.enqueue("look.v1")
                await db.worker(app).arun(until_idle=True)
            asyncio.run(run())
        look()
        for one in story:
            print(*one)
    """)
    code, out, err = finish(process)
    # asyncio.run() itself takes SIGINT from Python 3.11 on.
    assert (code, err) == (0, "") and out.splitlines()[:4] == ["taken taken"] + ["untouched untouched"] * 3
    assert out.splitlines()[4].endswith(" untouched") and out.splitlines()[5] == "untouched untouched"


def test_a_program_ends_though_a_handler_does_not(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import threading, cairn
        app = cairn.App()
        started = threading.Event()
        @app.task("stuck.v1")
        def stuck() -> None:
            started.set()
            threading.Event().wait()
        db = cairn.open("sqlite:cairn.db")
        db.enqueue(stuck)
        db.worker(app).start()
        started.wait()
        print("end")
    """)
    code, out, err = finish(process)
    assert (code, out) == (0, "end\n"), err
    with cairn.open(f"sqlite:{tmp_path}/cairn.db") as db:
        assert [(job.status, job.attempt) for job in db.jobs()] == [("pending", 0)]


# ---- forks


def test_an_engine_does_not_survive_a_fork(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import os, cairn
        db = cairn.open("sqlite:cairn.db")
        job = db.enqueue("a.v1")
        child = os.fork()
        if child == 0:
            for call in (db.stats, job.get, lambda: db.enqueue("a.v1")):
                try:
                    call()
                except cairn.Misuse as error:
                    print(error.message)
            db.close()
            with cairn.open("sqlite:cairn.db") as own:
                print(own.job(job.id).status(), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(job.status())
        db.close()
    """)
    assert finish(process) == (0, "this engine was opened before a fork\n" * 3 + "pending\npending\n", "")


def test_a_fork_while_other_threads_call(tmp_path: Path) -> None:
    process = python(tmp_path, """
        import os, threading, warnings, cairn
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on, forks with threads warn
        app = cairn.App()
        app.task("a.v1")(lambda: None)
        db = cairn.open("memory:")
        over = threading.Event()
        def call() -> None:
            while not over.is_set():
                db.enqueue("a.v1")
        threads = [threading.Thread(target=call) for _ in range(4)]
        with db.worker(app):
            for thread in threads:
                thread.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    db.close()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            over.set()
            for thread in threads:
                thread.join()
        db.close()
        print("done")
    """)
    assert finish(process) == (0, "done\n", "")


# ---- the command line


APP = """
import cairn
app = cairn.App()
@app.task("double.v1")
def double(n: int) -> int:
    return n * 2
"""


def cli(tmp_path: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "cairn", *arguments], cwd=tmp_path, env=environment(), text=True,
                          capture_output=True, timeout=LONG)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_work(tmp_path: Path, processes: str) -> None:
    (tmp_path / "tasks.py").write_text(APP)
    url = f"sqlite:{tmp_path}/cairn.db"
    with cairn.open(url) as db:
        jobs = [db.enqueue("double.v1", n) for n in range(20)]
        done = cli(tmp_path, "work", "tasks:app", "--url", url, "--until-idle", "--processes", processes)
        assert done.returncode == 0, done.stderr
        assert [job.result(timeout=LONG) for job in jobs] == [n * 2 for n in range(20)]


def test_work_is_stopped_by_a_signal(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(APP)
    url = f"sqlite:{tmp_path}/cairn.db"
    with cairn.open(url) as db:
        process = subprocess.Popen([sys.executable, "-m", "cairn", "work", "tasks:app", "--url", url, "--processes", "2"],
                                   cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
        assert db.enqueue("double.v1", 4).result(timeout=LONG) == 8
        process.terminate()
        assert process.communicate(timeout=LONG) and process.returncode == 0


def test_no_process_outlives_its_parent(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(APP)
    url = f"sqlite:{tmp_path}/cairn.db"
    with cairn.open(url) as db:
        process = subprocess.Popen([sys.executable, "-m", "cairn", "work", "tasks:app", "--url", url, "--processes", "2"],
                                   cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
        assert db.enqueue("double.v1", 4).result(timeout=LONG) == 8
        process.kill()
        assert process.stderr is not None
        out = process.communicate(timeout=LONG)[1]  # returns when nobody can write there any more
        assert "Traceback" not in out


@pytest.mark.parametrize("asks_kernel", [True, False])
@pytest.mark.parametrize("is_late", [True, False])
def test_a_child_is_stopped_with_its_parent(asks_kernel: bool, is_late: bool) -> None:
    """By the kernel or by a pipe; also if the parent was gone before it was asked."""
    child = f"""
import signal, sys
from cairn import _orphan
signal.signal(signal.SIGTERM, lambda *_: (print("stopped", flush=True), sys.exit(0)))
if not {asks_kernel}:
    _orphan._ask_kernel = lambda: False
_orphan.follow(int(sys.argv[1]) {'+ 1' if is_late else ''}, int(sys.argv[2]))
print("follows", flush=True)
while True:
    signal.pause()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(f"""
            import os, subprocess, sys
            reader, writer = os.pipe()
            subprocess.Popen([sys.executable, "-c", {child!r}, str(os.getpid()), str(reader)], pass_fds=[reader],
                             stdin=subprocess.DEVNULL)
            sys.stdin.read()
            """)], env=environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if not is_late:
        read_until(parent, "follows")
        parent.kill()
        assert parent.stdout is not None and parent.stdout.read() == "stopped\n"
    else:
        read_until(parent, "stopped")
        parent.kill()
    parent.communicate(timeout=LONG)


@pytest.mark.parametrize("arguments, message", [
    (["work", "nowhere:app"], 'cannot import "nowhere"'), (["work", "tasks"], "is not MODULE:APP"),
    (["work", "tasks:nothing"], "is not a cairn.App"), (["work", "tasks:app", "--concurrency", "0"], "must be from 1"),
    (["work", "tasks:app", "--url", "nonsense:"], "nonsense")])
def test_what_the_command_line_refuses(tmp_path: Path, arguments: List[str], message: str) -> None:
    (tmp_path / "tasks.py").write_text(APP)
    done = cli(tmp_path, *arguments)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


# ---- examples


EXPECTED = {
    "01_jobs.py": ["True True {'pdf': '17.pdf'}"],
    "02_retries.py": ["sent at call 3", "ValueError: no such address"],
    "03_cancel.py": ["cancelled True"],
    "04_saga.py": ["cancel 12A to Lisbon", "failed RuntimeError: no cars left"],
    "05_builder.py": ["reserve pick ship invoice close all"],
    "06_approval.py": ["{'who': 'Anna'} aborted", "decided already"],
    "07_signal.py": ["waiting_signal", "True", "True", "{'order': 17, 'paid': 250}"],
    "08_function.py": ["refund 420 for the piano", "parcel 1 for 420 / failed"],
    "09_transaction.py": ["invoice 17", "1"],
    "11_asyncio.py": ["790", "/A"],
    "12_dlq.py": ["load KeyError: 'name'"] * 3 + ["['2.csv', '1.csv', '0.csv']"],
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_example_prints_what_it_says(tmp_path: Path, name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], cwd=tmp_path, env=environment(), text=True,
                          capture_output=True, timeout=LONG)
    assert (done.returncode, done.stdout.splitlines()) == (0, EXPECTED[name]), done.stderr


def test_the_test_in_the_examples(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "cairn._pytest",
                           str(EXAMPLES / "10_test_reminder.py")], cwd=tmp_path, env=environment(), text=True,
                          capture_output=True, timeout=LONG)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_every_example_is_run() -> None:
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == set(EXPECTED) | {"10_test_reminder.py"}


# ---- importing


def test_importing_loads_little() -> None:
    code = "import sys, cairn; print([n for n in ('asyncio', 'cairn._abi', 'cairn._worker', 'decimal', 'pydantic', 'uuid') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env={**environment(), "CAIRN_LIBRARY": "/nowhere"}, text=True,
                          capture_output=True, timeout=LONG)
    assert done.stdout == "[]\n", done.stderr


def test_there_is_no_library(tmp_path: Path) -> None:
    code = "import cairn; app = cairn.App(); app.task('a')(lambda: None); cairn.open('memory:')"
    done = subprocess.run([sys.executable, "-c", code], env={**environment(), "CAIRN_LIBRARY": "/nowhere/lib.so"}, text=True,
                          capture_output=True, timeout=LONG)
    assert re.search(r"ImportError: cannot load libcairn.*/nowhere/lib.so", done.stderr, re.DOTALL)




def test_a_subinterpreter_is_refused() -> None:
    code = """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            failed = interpreters.run_string(other, "import cairn")
        except Exception as error:
            failed = error
        print(failed)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=environment(), text=True,
                          capture_output=True, timeout=LONG)
    assert "cannot be used in a subinterpreter" in done.stdout + done.stderr
