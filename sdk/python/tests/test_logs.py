# SPDX-License-Identifier: Apache-2.0
"""What a worker's log says: each failed call once, with all that one needs to find it; ctx.log; the command's formats."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import pytest

import cairn

RETRIES = cairn.Backoff("fixed", "1ms")


@pytest.fixture
def app() -> cairn.App:
    return cairn.App()


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


def failures(caplog: pytest.LogCaptureFixture) -> List[Tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records
            if record.levelno >= logging.WARNING and record.name.startswith("cairn")]


def test_each_failed_attempt_and_each_end_of_a_job(db: cairn.Engine, app: cairn.App,
                                                   caplog: pytest.LogCaptureFixture) -> None:
    @app.task("bad.v1")
    def bad(how: str) -> Any:
        if how == "dead":
            raise cairn.Dead("never")
        if how == "retry":
            raise cairn.Retry("busy\nERROR forged", after="1ms")
        raise ValueError("no")

    jobs = [db.enqueue(bad, "fail", key="k", max_attempts=2, retry=RETRIES), db.enqueue(bad, "dead"),
            db.enqueue(bad, "retry", max_attempts=2), db.enqueue(bad, 7)]  # type: ignore[call-overload]
    db.work(app, until_idle=True, concurrency=1)
    ids = [job.id for job in jobs]
    assert sorted(failures(caplog)) == sorted([
        ("WARNING", f"job bad.v1 {ids[0]}, key k, attempt 1/2 failed: ValueError: no"),
        ("ERROR", f"job bad.v1 {ids[0]}, key k, attempt 2/2 failed for good: ValueError: no"),
        ("ERROR", f"job bad.v1 {ids[1]}, attempt 1/3 failed for good: never"),
        ("WARNING", f"job bad.v1 {ids[2]}, attempt 1/2 failed: busy ERROR forged"),
        ("ERROR", f"job bad.v1 {ids[2]}, attempt 2/2 failed for good: busy ERROR forged"),
        ("ERROR", f"job bad.v1 {ids[3]}, attempt 1/3 failed for good: BadPayload: expected str, got a number")])


def test_steps_and_their_undo(db: cairn.Engine, app: cairn.App, caplog: pytest.LogCaptureFixture) -> None:
    app.task("charge.v1")(lambda: 1)

    @app.task("ship")
    def ship() -> None:
        raise cairn.Dead("no van")

    @app.task("refund.v1")
    def refund() -> None:
        raise OSError("bank is closed")

    flow = cairn.Workflow("order")
    flow.step("charge", handler="charge.v1", compensation=cairn.Compensation("refund.v1", max_attempts=1))
    flow.step("ship", on_failure="compensate")
    db.deploy(flow)
    run = db.start("order")
    db.work(app, until_idle=True)
    assert failures(caplog) == [
        ("ERROR", f"step ship of type ship, instance {run.id}, key {run.id}:ship, attempt 1/3 failed for good: no van"),
        ("ERROR", f"compensation refund.v1 of step charge, instance {run.id}, key {run.id}:charge:undo, attempt 1/1 "
                  "failed for good: OSError: bank is closed")]


@pytest.mark.parametrize("is_async", [False, True])
def test_functions_and_their_steps(db: cairn.Engine, app: cairn.App, is_async: bool,
                                   caplog: pytest.LogCaptureFixture) -> None:
    def bad(how: str) -> None:
        raise cairn.Dead("never") if how == "dead" else ValueError("no")

    if is_async:
        @app.function("buy")
        async def buy(ctx: cairn.AsyncContext) -> None:
            try:
                await ctx.step("a", bad, "dead")
            except cairn.StepFailed:
                await ctx.step("b", bad, "fail", retries=1, backoff=RETRIES)
    else:
        @app.function("buy")
        def buy_sync(ctx: cairn.Context) -> None:
            try:
                ctx.step("a", bad, "dead")
            except cairn.StepFailed:
                ctx.step("b", bad, "fail", retries=1, backoff=RETRIES)

    with db.worker(app):
        run = db.start(next(iter(app.functions.values())))
        with pytest.raises(cairn.InstanceFailed):
            run.result(timeout=120)
    step = f"of function buy, instance {run.id}, key {run.id}:"
    found = failures(caplog)
    assert found[:3] == [
        ("ERROR", f"step a {step}a, attempt 1/3 failed for good: never"),
        ("WARNING", f"step b {step}b, attempt 1/2 failed: ValueError: no"),
        ("ERROR", f"step b {step}b, attempt 2/2 failed for good: ValueError: no")]
    assert len(found) == 4 and found[3][0] == "ERROR"
    assert found[3][1].startswith(f"function buy, instance {run.id}, ")
    assert found[3][1].endswith("failed for good: step b: ValueError: no")


def test_what_a_function_logs_goes_to_a_logger_once(db: cairn.Engine, app: cairn.App,
                                                    caplog: pytest.LogCaptureFixture) -> None:
    @app.function("talk")
    def talk(ctx: cairn.Context) -> None:
        ctx.log.debug("begins")
        ctx.step("a", lambda: ctx.log.warning("in a step"))
        ctx.log.info("greeted", who="ann")
        ctx.sleep("1ms")
        ctx.log.error("ends")

    with caplog.at_level(logging.DEBUG, "cairn.run"), db.worker(app):
        run = db.start(talk)
        run.result(timeout=120)
    lines = [record for record in caplog.records if record.name == "cairn.run"]
    assert [(record.levelname, record.getMessage()) for record in lines] == [
        ("DEBUG", "begins"), ("WARNING", "in a step"), ("INFO", 'greeted {"who":"ann"}'), ("ERROR", "ends")]
    assert {record.__dict__["cairn_instance"] for record in lines} == {run.id}
    assert [line.message for line in run.logs()] == ["begins", "in a step", "greeted", "ends"]


PROGRAM = '''
import cairn
app = cairn.App()

@app.task("bad.v1")
def bad(task: cairn.Task) -> None:
    raise ValueError("no\\nway")
'''


def run_command(tmp_path: Path, url: str, *options: str) -> List[str]:
    (tmp_path / "logged.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "cairn", "work", "logged:app", "--url", url, "--until-idle", *options],
                          cwd=tmp_path, env={**os.environ}, stderr=subprocess.PIPE, text=True, check=True, timeout=120)
    return done.stderr.splitlines()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_command_writes_json(tmp_path: Path, sqlite_url: str, processes: str) -> None:
    with cairn.open(sqlite_url) as db:
        job = db.enqueue("bad.v1", key="k", max_attempts=1)
    lines = [json.loads(line) for line in run_command(tmp_path, sqlite_url, "--log-format", "json", "--processes",
                                                      processes)]
    found = [line for line in lines if line["level"] == "error"]
    assert len(found) == 1 and found[0]["text"] == f"job bad.v1 {job.id}, key k, attempt 1/1 failed for good: ValueError: no way"
    assert (found[0]["event"], found[0]["task"], found[0]["type"], found[0]["attempt"]) == ("task", job.id, "bad.v1", 1)
    assert found[0]["key"] == "k" and 'raise ValueError("no' in found[0]["traceback"] and found[0]["at"].endswith("Z")
    assert all({"at", "level", "event", "text"} <= set(line) for line in lines)


def test_the_command_writes_text(tmp_path: Path, sqlite_url: str) -> None:
    with cairn.open(sqlite_url) as db:
        job = db.enqueue("bad.v1", max_attempts=1)
    lines = run_command(tmp_path, sqlite_url, "--log-format", "text")
    assert any(f"ERROR cairn.worker: job bad.v1 {job.id}, attempt 1/1 failed for good: ValueError: no way" in line
               for line in lines)


def test_an_unknown_format_is_refused(tmp_path: Path, sqlite_url: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run_command(tmp_path, sqlite_url, "--log-format", "xml")


