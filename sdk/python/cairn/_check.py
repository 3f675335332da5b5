# SPDX-License-Identifier: Apache-2.0
"""Checks and draws texts of workflow files, with the library but without an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, List

from cairn import errors
from cairn._library import load

if TYPE_CHECKING:
    import ctypes


@dataclass(frozen=True)
class Flaw:
    """A mistake in a workflow file, and where it is.  Lines and columns count from 1; 0 is the whole file.

    >>> import cairn
    >>> cairn.validate("workflow: x")[0].line
    1
    """

    line: int
    column: int
    message: str


def _raise(error: ctypes.Structure) -> None:
    text = {name: getattr(error, name).decode("utf-8", "replace") for name in ("message", "detail", "hint")}
    code = errors.CODE_OF_NUMBER.get(getattr(error, "code"), "internal")
    raise errors.make(code, text["message"], text["detail"], text["hint"])


def validate(text: str, file: str = "workflow") -> List[Flaw]:
    """All mistakes in the text of a workflow file, YAML or JSON; an empty list if there is none.

    >>> import cairn
    >>> cairn.validate("{workflow: mail, version: 1, steps: [{step: send}]}")
    []
    >>> for flaw in cairn.validate("workflow: mail\\nversion: one\\nsteps: []"):
    ...     print(flaw.line, flaw.message)
    2 workflow "mail": version must be a whole number from 1
    3 workflow "mail": steps is empty
    """
    import ctypes

    from cairn import _abi

    library = load()
    page, error = ctypes.c_void_p(), _abi.cairn_error()
    if "\0" in text:
        return [Flaw(1 + text.count("\n", 0, text.index("\0")), 0, "a NUL character is not allowed")]
    code = library.cairn_workflow_validate(file.encode(), text.encode(), ctypes.byref(page), ctypes.byref(error))
    try:
        if not code:
            return []
        flaws: List[Flaw] = []
        for index in range(library.cairn_page_count(page)):
            flaw = library.cairn_page_flaw(page, index).contents
            flaws.append(Flaw(flaw.line, flaw.column, flaw.message.decode("utf-8", "replace")))
        if not flaws:
            _raise(error)
        return flaws
    finally:
        library.cairn_page_free(page)


def raise_flaws(what: str, text: str) -> None:
    """BadInput with everything that is wrong in the text, if anything is."""
    flaws = validate(text)
    if len(flaws) == 1:
        raise errors.BadInput(f"{what}: {flaws[0].message}")
    if flaws:
        raise errors.BadInput(f"{what} has {len(flaws)} mistakes", detail="\n".join(flaw.message for flaw in flaws))


def draw(text: str, form: str) -> str:
    """The text of a workflow file as a picture."""
    import ctypes

    from cairn import _abi

    library = load()
    picture, error = ctypes.c_char_p(), _abi.cairn_error()
    if library.cairn_workflow_draw(b"workflow", text.encode(), form.encode(), ctypes.byref(picture),
                                   ctypes.byref(error)):
        _raise(error)
    try:
        return (picture.value or b"").decode()
    finally:
        library.cairn_text_free(picture)
