# SPDX-License-Identifier: Apache-2.0
"""Stores for tests: `url` runs a test on each kind of store, `postgres_url` and `sqlite_url` on one.

scripts/test-python sets what is needed:

    CAIRN_LIBRARY        libcairn
    CAIRN_PROGRAM        the program `cairn`, for servers
    CAIRN_TEST_POSTGRES  a database that may create others; without it tests of PostgreSQL are skipped
"""

from __future__ import annotations

import os
import re
import subprocess
import uuid
from pathlib import Path
from typing import Iterator

import pytest

KINDS = ["memory", "sqlite", "postgres", "http"]


def psql(statement: str) -> None:
    subprocess.run(["psql", "-Xq", "-d", os.environ["CAIRN_TEST_POSTGRES"], "-c", statement], check=True,
                   stdout=subprocess.DEVNULL)


def make_database() -> Iterator[str]:
    """A database of its own, with Cairn's tables if there is a template for it."""
    server = os.environ.get("CAIRN_TEST_POSTGRES")
    if not server:
        pytest.skip("CAIRN_TEST_POSTGRES is not set")
    name = "py_" + uuid.uuid4().hex[:12]
    psql(f"CREATE DATABASE {name} TEMPLATE {os.environ.get('CAIRN_TEST_TEMPLATE', 'template0')}")
    try:
        yield server.rsplit("/", 1)[0] + "/" + name
    finally:
        psql(f"DROP DATABASE {name} WITH (FORCE)")


def serve(store: str, *options: str) -> Iterator[str]:
    """A server on this store, until the generator ends."""
    program = os.environ.get("CAIRN_PROGRAM")
    if not program:
        pytest.skip("CAIRN_PROGRAM is not set")
    server = subprocess.Popen([program, "serve", "--url", store, "--listen", "127.0.0.1:0", *options],
                              stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        address = None
        for line in server.stderr:
            address = re.search(r"http://[0-9.]+:\d+", line)
            if address:
                break
        assert address, "the server did not start"
        yield address.group(0)
    finally:
        server.terminate()
        server.wait(120)
        server.stderr.close()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/cairn.db"


@pytest.fixture
def postgres_url() -> Iterator[str]:
    yield from make_database()


@pytest.fixture
def http_url(sqlite_url: str) -> Iterator[str]:
    yield from serve(sqlite_url)


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> str:
    """Each kind of store in turn, empty."""
    if request.param == "memory":
        return "memory:"
    found: str = request.getfixturevalue(request.param + "_url")
    return found
