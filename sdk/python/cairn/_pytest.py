# SPDX-License-Identifier: Apache-2.0
"""Fixtures for pytest, which finds them by the package's entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

import pytest

if TYPE_CHECKING:
    from cairn import Engine
    from cairn.testing import Environment


@pytest.fixture
def cairn_env() -> "Iterator[Environment]":
    """An ``Environment``: the engine in memory, with a clock that the test moves."""
    from cairn.testing import Environment

    with Environment() as env:
        yield env


@pytest.fixture
def cairn_db(cairn_env: "Environment") -> "Engine":
    """The engine of ``cairn_env``."""
    return cairn_env.db
