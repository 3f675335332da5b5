# SPDX-License-Identifier: Apache-2.0
"""The reference is the docstrings, which ``pydoc`` prints: every public name has one."""
import importlib
import inspect
from typing import Any, Iterator, Set, Tuple

import pytest

MODULES = ("cairn", "cairn.aio", "cairn.errors", "cairn.otel", "cairn.testing")


def own_members(owner: type) -> Iterator[Tuple[str, Any]]:
    for name, member in vars(owner).items():
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, (property, classmethod, staticmethod))):
            yield name, member


def public_names(module: Any) -> Iterator[Tuple[str, Any]]:
    """Classes and functions of a module with their methods; what comes from elsewhere is documented there."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    seen: Set[int] = set()
    for name in names:
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)) or not value.__module__.startswith("cairn"):
            continue
        yield name, value
        for owner in inspect.getmro(value) if inspect.isclass(value) else ():
            if owner.__module__.startswith("cairn") and id(owner) not in seen:
                seen.add(id(owner))
                for member_name, member in own_members(owner):
                    yield f"{name}.{member_name}", member


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_docstring(module: str) -> None:
    found = importlib.import_module(module)
    missing = [name for name, value in public_names(found) if not (inspect.getdoc(value) or "").strip()]
    assert found.__doc__ and not missing, missing


def test_the_modules_have_public_names() -> None:
    names = {name for module in MODULES for name, _ in public_names(importlib.import_module(module))}
    assert {"open", "Engine.enqueue", "Context.step", "Environment.run", "instrument", "Tx.enqueue"} <= names
