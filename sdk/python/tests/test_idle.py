# SPDX-License-Identifier: Apache-2.0
"""A worker until idle, beside what is not for it."""

from __future__ import annotations

import json
from typing import Any, Iterator

import pytest

import cairn


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


def ask(db: cairn.Engine, method: str, target: str, body: Any) -> Any:
    return db.ask(method, target, json.dumps(body).encode())


def test_a_worker_ends_beside_what_its_claims_would_not_bring(db: cairn.Engine) -> None:
    app, later = cairn.App(), cairn.App()

    @app.task("mine.%")
    def mine(n: int) -> int:
        return n

    @app.function("f", version=1)
    def first(ctx: cairn.Context) -> int:
        return 1

    @later.function("f", version=2)
    def second(ctx: cairn.Context) -> int:
        return 2

    for name, runtime in (("mine.go", "go"), ("mine.py", "python")):
        ask(db, "PUT", f"/v1/registry/{name}", {"runtime": runtime})
    db.enqueue("mine.go", 1)
    db.enqueue("mine.go", 2)
    leased = ask(db, "POST", "/v1/tasks/claim", {"worker": "go", "types": ["mine.go"], "max": 1})
    job, run = db.enqueue("mine.py", 3), db.start(second)
    assert db.work(app, until_idle=True, runtime="python") == 1
    assert job.result(timeout=10) == 3 and run.status() != "completed" and leased["tasks"]
    assert db.work(later, until_idle=True, runtime="python") == 1
    assert run.result(timeout=10) == 2
