# SPDX-License-Identifier: Apache-2.0
"""The build backend (PEP 517 and 660): a wheel is a zip file, and this writes it.

It needs nothing that must be downloaded, so ``pip install ./sdk/python`` works without a network and
without a compiler.  The wheel carries the library that ``./run --build`` has made in the same checkout,
or CAIRN_BUNDLE=/path/libcairn.so.0 (empty: none), for the platform in CAIRN_PLATFORM (such as
manylinux_2_28_x86_64), or else for this machine.
"""

import base64
import ctypes
import hashlib
import io
import os
import re
import sys
import sysconfig
import tarfile
import time
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "cairn-sdk"
FILE_NAME = "cairn_sdk"
SUMMARY = "Durable jobs, workflows and functions on SQLite, PostgreSQL or a server"
ENTRY_POINTS = "[pytest11]\ncairn = cairn._pytest\n"
EXTRAS = {"otel": ["opentelemetry-api>=1.20"]}
CLASSIFIERS = ["Development Status :: 4 - Beta", "Intended Audience :: Developers",
               "Operating System :: POSIX", "Programming Language :: Python :: 3 :: Only",
               "Typing :: Typed"]


def _read(*path):
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def _version():
    return re.search(rb'__version__ = "([^"]+)"', _read("cairn", "_version.py")).group(1).decode()


def _license():
    """The repository's; an sdist brings its own copy."""
    for path in (["LICENSE"], ["..", "..", "LICENSE"]):
        if os.path.exists(os.path.join(HERE, *path)):
            return _read(*path)
    raise FileNotFoundError("LICENSE")


def _files():
    """The package's files, as (name in the wheel, content), in a fixed order."""
    for folder, folders, names in os.walk(os.path.join(HERE, "cairn")):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "_lib"))
        for name in sorted(names):
            if name.endswith((".py", ".pyi")) or name == "py.typed":
                path = os.path.join(folder, name)
                yield os.path.relpath(path, HERE).replace(os.sep, "/"), _read(path)


def _library():
    """Where the library to carry is, or None: $CAIRN_BUNDLE, else what was built here, if it is of this version."""
    path = os.path.join(HERE, "..", "..", "build", "src", "libcairn.so.0")
    if "CAIRN_BUNDLE" in os.environ or not os.path.exists(path):
        return os.environ.get("CAIRN_BUNDLE") or None
    version = ctypes.CDLL(path).cairn_version
    version.restype = ctypes.c_char_p
    return path if version().decode() == _version() else None


def _bundle():
    """The library to carry, as (name in the wheel, content), or None."""
    path = _library()
    if not path:
        print("WARNING: this cairn-sdk carries no libcairn: run ./run --build and install it again", file=sys.stderr)
        return None
    name = "libcairn.0.dylib" if path.endswith(".dylib") else "libcairn.so.0"
    with open(path, "rb") as file:
        return f"cairn/_lib/{name}", file.read()


def _tag():
    if not _library():
        return "py3-none-any"
    platform = os.environ.get("CAIRN_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{platform}"


def _metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {_version()}", f"Summary: {SUMMARY}",
             "License: Apache-2.0", "Requires-Python: >=3.9"]
    lines += [f"Classifier: {text}" for text in CLASSIFIERS]
    for extra, needs in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need} ; extra == "{extra}"' for need in needs]
    lines += ["Description-Content-Type: text/markdown", "", _read("README.md").decode()]
    return "\n".join(lines)


def _dist_info():
    """The files of the .dist-info folder, without RECORD."""
    is_pure = "false" if _library() else "true"
    wheel = f"Wheel-Version: 1.0\nGenerator: cairn_build\nRoot-Is-Purelib: {is_pure}\nTag: {_tag()}\n"
    folder = f"{FILE_NAME}-{_version()}.dist-info"
    yield f"{folder}/METADATA", _metadata().encode()
    yield f"{folder}/WHEEL", wheel.encode()
    yield f"{folder}/entry_points.txt", ENTRY_POINTS.encode()
    yield f"{folder}/LICENSE", _license()


def _date():
    """The same source gives the same bytes."""
    return time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), 315532800))[:6]


def _write_wheel(directory, tag, contents):
    name = f"{FILE_NAME}-{_version()}-{tag}.whl"
    record_name = f"{FILE_NAME}-{_version()}.dist-info/RECORD"
    record = []
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in contents:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
            _add(wheel, path, content)
        record.append(f"{record_name},,")
        _add(wheel, record_name, "\n".join(record).encode() + b"\n")
    return name


def _add(wheel, path, content):
    info = zipfile.ZipInfo(path, _date())
    info.external_attr = (0o755 if "/_lib/" in path else 0o644) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, content)


# ---- The hooks that pip calls ---------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    for path, content in _dist_info():
        target = os.path.join(metadata_directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
    return f"{FILE_NAME}-{_version()}.dist-info"


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    contents = list(_files())
    bundle = _bundle()
    if bundle:
        contents.append(bundle)
    return _write_wheel(wheel_directory, _tag(), contents + list(_dist_info()))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A .pth file that names this folder: changes here are seen at once."""
    contents = [(f"__editable__{FILE_NAME}.pth", (HERE + "\n").encode())]
    return _write_wheel(wheel_directory, "py3-none-any", contents + list(_dist_info()))


def build_sdist(sdist_directory, config_settings=None):
    root = f"{FILE_NAME}-{_version()}"
    contents = [("PKG-INFO", _metadata().encode()), ("LICENSE", _license())]
    contents += [(name, _read(*name.split("/"))) for name in
                 ("README.md", "pyproject.toml", "_backend/cairn_build.py")]
    contents += list(_files())
    when = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))
    with tarfile.open(os.path.join(sdist_directory, root + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as sdist:
        for name, content in contents:
            info = tarfile.TarInfo(f"{root}/{name}")
            info.size, info.mtime = len(content), when
            sdist.addfile(info, io.BytesIO(content))
    return root + ".tar.gz"
