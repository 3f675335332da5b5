# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libcairn, once, when the first call needs it."""

from __future__ import annotations

import os
import re
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, List, Optional, Tuple

from cairn._version import __version__

if TYPE_CHECKING:
    import ctypes  # else it is loaded with the library

_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDER = os.path.join(_HERE, "_lib")
_SYSTEM = "libcairn.0.dylib" if sys.platform == "darwin" else "libcairn.so.0"

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


@dataclass(frozen=True)
class Library:
    """The libcairn that is loaded.

    >>> import cairn
    >>> cairn.library().version.count(".")
    2
    """

    path: str
    version: str


def load() -> ctypes.CDLL:
    """libcairn, with the prototypes of all its calls.

    ImportError if there is none, or if it is too old for this package.
    """
    global _loaded
    library = _loaded
    if library is None:
        with _lock:
            if _loaded is None:
                _loaded = _open()
            library = _loaded
    return library


def library() -> Library:
    """Where libcairn was found, and its version.

    >>> import cairn
    >>> import os
    >>> os.path.exists(cairn.library().path)
    True
    """
    loaded = load()
    return Library(_path_of(loaded), loaded.cairn_version().decode())


def _bundled() -> Optional[str]:
    """The library that the wheel brought, if it brought one."""
    if not os.path.isdir(_FOLDER):
        return None
    names = sorted(name for name in os.listdir(_FOLDER) if name.startswith("libcairn."))
    return os.path.join(_FOLDER, names[0]) if names else None


def _open() -> ctypes.CDLL:
    import ctypes

    named = os.environ.get("CAIRN_LIBRARY")
    bundled = _bundled()
    path = named or bundled or _SYSTEM
    try:
        found = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(_missing(named, bundled, error)) from None
    _check_version(found, path)
    from cairn import _abi

    missing = _abi.bind(found)
    _check_sizes(found, path, missing)
    return found


def _missing(named: Optional[str], bundled: Optional[str], error: OSError) -> str:
    return "\n".join([
        f"cannot load libcairn: {error}",
        f"  $CAIRN_LIBRARY: {named or 'not set'}",
        f"  the package's own: {bundled or 'none in ' + _FOLDER}",
        f"  the system's: {_SYSTEM}" + (" (not tried)" if named or bundled else ""),
        "one of these helps:",
        "  ./run --build in a checkout of Cairn, then again pip install ./sdk/python, which takes that library along",
        "  CAIRN_BUNDLE=/path/libcairn.so.0 pip install ./sdk/python",
        "  CAIRN_LIBRARY=/path/libcairn.so.0 in the environment of this program",
        "  the package cairn, which ./run --package makes for Debian (Linux, x86-64 and arm64, glibc)",
    ])


def _parse(version: str) -> Tuple[int, ...]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def _check_version(found: ctypes.CDLL, path: str) -> None:
    import ctypes

    try:
        found.cairn_version.restype = ctypes.c_char_p
        version = found.cairn_version().decode()
    except AttributeError:
        raise ImportError(f"{path} is not libcairn") from None
    if _parse(version) < _parse(__version__):
        raise ImportError(f"{path} is libcairn {version}, but this package (cairn-sdk {__version__}) "
                          f"needs {'.'.join(map(str, _parse(__version__)))} or newer")


def _check_sizes(found: ctypes.CDLL, path: str, missing: List[str]) -> None:
    """A struct that the library knows must be at least as long there as here, and the ABI the same."""
    import ctypes

    from cairn import _abi

    if missing:
        raise ImportError(f"{path} is too old for cairn-sdk {__version__}: it has no {missing[0]}()")
    if found.cairn_abi() != _abi.ABI:
        raise ImportError(f"{path} has the ABI {found.cairn_abi()}, and cairn-sdk {__version__} was made for {_abi.ABI}")
    for name, struct in _abi.STRUCTS.items():
        size = found.cairn_sizeof(name.encode())
        if size and size < ctypes.sizeof(struct):
            raise ImportError(f"{path} does not fit cairn-sdk {__version__}: {name} has {size} bytes there "
                              f"and {ctypes.sizeof(struct)} here")


def path_of_address(address: int) -> Optional[str]:
    """The file that holds this address of code, or None."""
    import ctypes

    class DlInfo(ctypes.Structure):
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                    ("address", ctypes.c_void_p)]

    info = DlInfo()
    try:
        dladdr = ctypes.CDLL(None).dladdr
    except (OSError, AttributeError):
        return None
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(DlInfo)]
    return os.fsdecode(info.file) if dladdr(address, ctypes.byref(info)) and info.file else None


def _path_of(found: ctypes.CDLL) -> str:
    import ctypes

    address = ctypes.cast(found.cairn_version, ctypes.c_void_p).value
    path = path_of_address(address) if address else None
    return os.path.abspath(path) if path else str(getattr(found, "_name", _SYSTEM))
