# SPDX-License-Identifier: Apache-2.0
"""One process must not open one file with two copies of SQLite.

POSIX locks belong to the process: when one copy closes the file, the locks of the other are gone, and
the file can be corrupted.  Engines say here which file they have open, and ``tx`` asks.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Dict, List, Optional, Tuple

from cairn._errors import Misuse

_lock = threading.Lock()
_open_files: Dict[int, str] = {}
_next_ticket = 0


def engine_opened(url: str) -> Optional[int]:
    """To be called when an engine is open; the ticket is for ``engine_closed()``."""
    global _next_ticket
    if not url.startswith("sqlite:"):
        return None
    path = os.path.abspath(url[len("sqlite:"):].split("?")[0])
    with _lock:
        _next_ticket += 1
        _open_files[_next_ticket] = path
        return _next_ticket


def engine_closed(ticket: Optional[int]) -> None:
    """To be called when it is closed; may be repeated."""
    if ticket is not None:
        with _lock:
            _open_files.pop(ticket, None)


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
    with _lock:
        files: List[str] = list(_open_files.values())
    for file in files:
        if wanted is not None and _identity(file) == wanted and not is_shared():
            raise Misuse(f"this process has an engine open on {path} with another copy of SQLite",
                         detail="two copies drop each other's locks, and the file can be corrupted",
                         hint="close the engine first, or use tx and the engine in different processes")
