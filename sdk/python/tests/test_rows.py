# SPDX-License-Identifier: Apache-2.0
"""Rows are frozen dataclasses, though most of what dataclass() makes is shared by all of them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Callable

import pytest

import cairn

JOB = cairn.Job("1", "mail", "pending", payload={"to": "ann"})


def test_a_row_is_a_dataclass() -> None:
    assert dataclasses.is_dataclass(cairn.Job)
    assert [one.name for one in dataclasses.fields(JOB)][:3] == ["id", "type", "status"]
    assert dataclasses.asdict(JOB)["payload"] == {"to": "ann"}
    assert dataclasses.replace(JOB, status="leased").status == "leased"


def test_a_row_can_be_copied_and_compared() -> None:
    assert copy.deepcopy(JOB) == JOB == pickle.loads(pickle.dumps(JOB))
    assert JOB != dataclasses.replace(JOB, attempt=1)
    assert JOB != dataclasses.asdict(JOB)
    assert hash(cairn.Job("1", "mail", "pending")) == hash(cairn.Job(id="1", type="mail", status="pending"))
    assert repr(JOB).startswith("Job(id='1', type='mail', status='pending', priority=100")


def test_rows_share_no_default() -> None:
    made: Callable[[], Any] = lambda: cairn.Instance("1", "trip", 1, "running")
    assert made().current_steps == [] and made().current_steps is not made().current_steps


@pytest.mark.parametrize("wrong, text", [
    (lambda: cairn.Job("1"), "misses type"),  # type: ignore[call-arg]
    (lambda: cairn.Job("1", "mail", "pending", colour=1), "no colour"),  # type: ignore[call-arg]
    (lambda: cairn.Job("1", "mail", "pending", id="2"), "too many"),  # type: ignore[misc]
])
def test_wrong_values_are_refused(wrong: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        wrong()


def test_a_row_does_not_change() -> None:
    row: Any = JOB
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.status = "leased"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del row.status
