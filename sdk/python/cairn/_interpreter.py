# SPDX-License-Identifier: Apache-2.0
"""Refuses to be imported in a subinterpreter, where ctypes and its locks are not safe."""

from __future__ import annotations

import importlib
from typing import Any


def is_main() -> bool:
    """Whether this is the main interpreter, as far as it can be known.

    >>> is_main()
    True
    """
    for name in ("_interpreters", "_xxsubinterpreters"):  # from Python 3.13 on, and before
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        here: Any = module.get_current()
        main: Any = module.get_main()
        return str(here) == str(main) or (name == "_interpreters" and here[0] == main[0])
    return True


if not is_main():
    raise ImportError("cairn cannot be used in a subinterpreter yet: use threads or processes")
