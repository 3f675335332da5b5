# SPDX-License-Identifier: Apache-2.0
"""The definition of a durable function, as the engine stores it, for a transaction of the caller's own."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence

from cairn.errors import BadInput, Misuse, TooLarge

if TYPE_CHECKING:
    from cairn import FunctionType

_MAX_NAME = 256
_MAX_INT = (1 << 31) - 1


class Definition(NamedTuple):
    """A row of workflow_definition."""

    name: str
    version: int
    content: str
    hash: str

    def check_same(self, rows: Sequence[Sequence[Any]]) -> None:
        """Misuse if the store has this version with other content."""
        if rows and str(rows[0][0]) != self.hash:
            raise Misuse(f'function "{self.name}", version {self.version}, is deployed with different content',
                         hint=f"raise the version to {self.version + 1}")


def _check(function: "FunctionType[Any, Any]") -> None:
    """What ``deploy`` would refuse."""
    name = function.name
    size = len(name.encode("utf-8", "surrogatepass"))
    if not name:
        raise BadInput("the function has no name")
    if size > _MAX_NAME:
        raise TooLarge("the name of the function is too long", detail=f"{size} bytes, {_MAX_NAME} are allowed")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        raise BadInput(f"function {name!r}: the name contains a control character")
    if re.search(r"~[0-9]+\Z", name):
        raise BadInput(f'function "{name}": a name cannot end in "~" and a number')
    for field, value in (("version", function.version), ("max_attempts", function.max_attempts)):
        if isinstance(value, bool) or not 1 <= value <= _MAX_INT:
            raise BadInput(f'function "{name}": {field} must be a whole number from 1')


def definition_of(function: "FunctionType[Any, Any]") -> Definition:
    """What ``deploy_function()`` writes: what is as usual is left out, and the hash is that of the text.

    >>> import cairn
    >>> definition_of(cairn.FunctionType("buy", print, version=2, dlq=True)).content
    '{"function":"buy","version":2,"dlq":true}'
    """
    _check(function)
    members: Dict[str, Any] = {"function": function.name, "version": function.version}
    if function.dlq:
        members["dlq"] = True
    if function.max_attempts != 3:
        members["max_attempts"] = function.max_attempts
    content = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    return Definition(function.name, function.version, content, hashlib.sha256(content.encode()).hexdigest())
