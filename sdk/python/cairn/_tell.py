# SPDX-License-Identifier: Apache-2.0
"""What a worker's log says of calls that failed: all that one needs to find the task, in the text itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from cairn._task import Task


def one_line(text: str) -> str:
    """Without line breaks and other control characters, so that no text of a user looks like a line of the log.

    >>> one_line("no card\\nERROR forged\\x1b[2J")
    'no card ERROR forged\\\\x1b[2J'
    """
    return "".join(" " if char in "\n\r\t" else char if char.isprintable() else char.encode(
        "unicode_escape").decode() for char in text)


def label(task: "Task") -> str:
    """Kind, type or function and step, id, key and attempt of a task."""
    kind = task.kind
    if kind == "job":
        what = f"job {task.type} {task.id}"
    elif kind == "function":
        what = f"function {task.type}, instance {task.instance_id}"
    elif kind == "compensation":
        what = f"compensation {task.type} of step {task.step}, instance {task.instance_id}"
    elif task.function is not None:
        what = f"step {task.step} of function {task.function}, instance {task.instance_id}"
    else:
        what = f"step {task.step} of type {task.type}, instance {task.instance_id}"
    key = "" if task.key is None else f", key {task.key}"
    return one_line(f"{what}{key}, attempt {task.attempt}/{task.max_attempts}")


def tell_failure(task: "Task", error: str, is_dead: bool, cause: Optional[BaseException] = None) -> None:
    """One line for a failed attempt: a warning, or an error if it is the end for good."""
    is_end = is_dead or task.attempt >= task.max_attempts
    task.log.log(logging.ERROR if is_end else logging.WARNING, "%s failed%s: %s", label(task),
                 " for good" if is_end else "", one_line(error), exc_info=cause)
