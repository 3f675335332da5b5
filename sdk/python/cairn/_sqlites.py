# SPDX-License-Identifier: Apache-2.0
"""One process must not open one file with two copies of SQLite.

POSIX locks belong to the process: when one copy closes the file, the locks of the other are gone, and
the file can be corrupted.  So ``tx`` asks here before it writes.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import List, Optional, Tuple

from cairn._errors import Misuse


def file_of(url: str) -> Optional[str]:
    """The absolute path of the file that a URL names; None if it names none.

    >>> file_of("sqlite:/var/lib/shop.db"), file_of("memory:")
    ('/var/lib/shop.db', None)
    """
    return os.path.abspath(url[len("sqlite:"):].split("?")[0]) if url.startswith("sqlite:") else None


def _open_files() -> List[str]:
    """The files that engines of this process have open."""
    ffi = sys.modules.get("cairn._ffi")
    return list(ffi.open_files()) if ffi is not None else []


def _identity(path: str) -> Optional[Tuple[int, int]]:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _address(path: Optional[str]) -> Optional[int]:
    """Of ``sqlite3_libversion`` as this file, or the program (None), finds it; None if it has none."""
    try:
        return ctypes.cast(ctypes.CDLL(path).sqlite3_libversion, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


def is_shared() -> bool:
    """Whether libcairn and Python's ``sqlite3`` use the same copy of SQLite."""
    import _sqlite3

    from cairn._library import library

    engines = _address(library().path)
    pythons = _address(getattr(_sqlite3, "__file__", None))
    return engines is not None and engines == pythons


def refuse_second(path: Optional[str]) -> None:
    """Misuse if an engine of this process has the file open with another copy of SQLite."""
    if path is None:
        return
    wanted = _identity(path)
    for file in _open_files():
        if wanted is not None and _identity(file) == wanted and not is_shared():
            raise Misuse(f"this process has an engine open on {path} with another copy of SQLite",
                         detail="two copies drop each other's locks, and the file can be corrupted",
                         hint="close the engine first, or use tx and the engine in different processes")
