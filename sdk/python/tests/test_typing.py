# SPDX-License-Identifier: Apache-2.0
"""What type checkers know about payloads and results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cairn

CODE = '''
import cairn
app = cairn.App()

@app.task("a")
def a(n: int) -> str: return str(n)

@app.task("b")
async def b(task: cairn.Task, n: int) -> str: return str(n)

@app.task("c")
async def c(task: cairn.Task) -> bytes: return b""

async def fetch(path: str) -> int: return len(path)
def add(a: str, b: int = 0) -> str: return a * b

@app.function("f")
def f(ctx: cairn.Context, n: int) -> str:
    reveal_type(ctx.step("s", len, "x"))  # int
    reveal_type(ctx.wait_event("e", float))  # float
    ctx.step("s", add, "x", 1, retries=5)
    ctx.step("s", add, "x")
    ctx.step("s", add, 1)  # error
    ctx.step("s", add, "x", "y")  # error
    ctx.step("s", add)  # error
    ctx.step("s", lambda: 1)
    reveal_type(ctx.gather(cairn.step("s", len, "x"), cairn.step("t", str, 1)))  # tuple[int, str]
    reveal_type(ctx.gather(cairn.step("a", len, "x"), cairn.step("b", str, 1), cairn.step("c", len, ""), cairn.step("d", len, ""), cairn.step("e", str, 2)))  # tuple[int, str, int, int, str]
    reveal_type(ctx.gather(*[cairn.step("s", len, "x") for _ in range(3)]))  # tuple[int, ...]
    cairn.step("s", add, 1)  # error
    return ""

@app.function("g")
async def g(ctx: cairn.AsyncContext, n: int) -> str:
    reveal_type(await ctx.step("s", fetch, "x"))  # int
    reveal_type(await ctx.step("s", len, "x"))  # int
    await ctx.step("s", fetch, 1)  # error
    await ctx.step("s", add, 1)  # error
    reveal_type(await ctx.gather(cairn.step("s", fetch, "x"), cairn.step("t", str, 1)))  # tuple[int, str]
    return ""

async def main() -> None:
    async with cairn.aio.open("memory:") as db:
        reveal_type(await (await db.enqueue(b, 1)).result())  # str
        await db.enqueue(b, "wrong")  # error

with cairn.open("memory:") as db:
    reveal_type(db.enqueue(a, 1).result())  # str
    reveal_type(db.enqueue(c).result())  # bytes
    reveal_type(db.enqueue("x", 1).result())  # Any
    reveal_type(db.start(f, 1).result())  # str
    reveal_type(db.start(g, 1).result())  # str
    reveal_type(db.job("x", int).result())  # int
    db.enqueue(a, "wrong")  # error
    db.start(f, "wrong")  # error
    cairn.JobSpec(a, "wrong")  # error
    cairn.nothing  # error
'''


def mypy(tmp_path: Path, *arguments: str) -> str:
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *arguments],
                          cwd=Path(cairn.__file__).parents[1], text=True, capture_output=True)
    return done.stdout + done.stderr


def test_types_are_known(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(CODE)
    told = mypy(tmp_path, "--config-file=", "--strict", str(file))
    for number, line in enumerate(CODE.splitlines(), 1):
        expected = line.partition("  # ")[2]
        here = [text for text in told.splitlines() if f"program.py:{number}: " in text]
        if expected == "error":
            assert any(" error: " in text for text in here), f"line {number} is no error:\n{told}"
        elif expected:
            assert any(f'Revealed type is "{expected}"' in text.replace("builtins.", "") for text in here), \
                f"line {number} is not {expected}:\n{told}"
        else:
            assert not here, told


def test_the_examples_are_well_typed(tmp_path: Path) -> None:
    examples = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
    told = mypy(tmp_path, "--config-file=", *map(str, examples))
    assert "Success" in told, told
