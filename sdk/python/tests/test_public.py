# SPDX-License-Identifier: Apache-2.0
"""What the package offers, and what importing it loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cairn

# Each of these takes several milliseconds, and a program may never need it.
HEAVY = {"asyncio", "ctypes", "dataclasses", "inspect", "logging", "cairn._engine", "cairn._worker"}


def test_every_public_name_is_there() -> None:
    assert len(set(cairn.__all__)) == len(cairn.__all__)
    for name in cairn.__all__:
        assert getattr(cairn, name) is getattr(cairn, name), name
        assert name in dir(cairn)


def test_no_other_name_is_there() -> None:
    assert not hasattr(cairn, "colour")


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, cairn; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-S", "-c", code], cwd=Path(cairn.__file__).parents[1], check=True,
                           capture_output=True, text=True)
    assert not HEAVY & set(found.stdout.split())
