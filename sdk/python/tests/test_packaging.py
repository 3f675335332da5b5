# SPDX-License-Identifier: Apache-2.0
"""The wheel, the sdist, and how libcairn is found."""

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import cairn

FOLDER = Path(__file__).resolve().parents[1]


sys.path.insert(0, str(FOLDER / "_backend"))
import cairn_build  # noqa: E402

sys.path.pop(0)


@pytest.fixture(autouse=True)
def carries_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has been built in this checkout."""
    monkeypatch.setenv("CAIRN_BUNDLE", "")


def pip(*arguments: object) -> None:
    """Without an index: nothing may be downloaded."""
    subprocess.run([sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", *map(str, arguments)],
                   check=True, capture_output=True, env={**os.environ, "PIP_NO_INDEX": "1"})


def build(into: Path) -> Path:
    into.mkdir(exist_ok=True)
    return into / cairn_build.build_wheel(str(into))


def python(code: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs code with an environment in which only these variables say where libcairn is."""
    clean = {name: value for name, value in os.environ.items() if name not in ("CAIRN_LIBRARY", "PYTHONPATH")}
    return subprocess.run([sys.executable, "-c", code], env={**clean, **env}, capture_output=True, text=True,
                          cwd="/")


def test_a_pure_wheel(tmp_path: Path) -> None:
    wheel = build(tmp_path)
    assert wheel.name == f"cairn_sdk-{cairn.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        assert content.testzip() is None
        metadata = email.message_from_bytes(content.read(f"cairn_sdk-{cairn.__version__}.dist-info/METADATA"))
        entry_points = content.read(f"cairn_sdk-{cairn.__version__}.dist-info/entry_points.txt")
    assert "cairn/py.typed" in names and "cairn/testing.py" in names
    assert not [name for name in names if "__pycache__" in name or "tests" in name or "/_lib/" in name]
    assert metadata["Name"] == "cairn-sdk" and metadata["Requires-Python"] == ">=3.9"
    assert metadata.get_all("Requires-Dist") == ['opentelemetry-api>=1.20 ; extra == "otel"']
    assert b"cairn = cairn._pytest" in entry_points


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = build(tmp_path / "1"), build(tmp_path / "2")
    assert first.read_bytes() == second.read_bytes()


def test_an_sdist_builds_the_same_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = cairn_build.build_sdist(str(tmp_path))
    first = build(tmp_path / "first")
    with tarfile.open(tmp_path / name) as sdist:
        sdist.extractall(tmp_path / "out", **({"filter": "data"} if sys.version_info >= (3, 12) else {}))
    (unpacked,) = (tmp_path / "out").iterdir()
    assert {"PKG-INFO", "LICENSE", "README.md", "pyproject.toml", "_backend"} <= {path.name for path in unpacked.iterdir()}
    monkeypatch.setattr(cairn_build, "HERE", str(unpacked))
    assert build(tmp_path / "again").read_bytes() == first.read_bytes()


def test_pip_installs_a_wheel_that_carries_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found without a variable, in the folder where pip has put it."""
    monkeypatch.setenv("CAIRN_BUNDLE", cairn.library().path)
    target = tmp_path / "installed"
    pip("install", "-q", "--no-deps", "--target", target, FOLDER)
    done = python("import cairn; print(cairn.library().path); print(cairn.validate('{}') != [])", PYTHONPATH=str(target))
    assert done.stdout.split() == [str(target / "cairn/_lib/libcairn.so.0"), "True"], done.stderr


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of this version in which nothing is built."""
    copy = tmp_path / "checkout"
    shutil.copytree(FOLDER, copy / "sdk/python", ignore=shutil.ignore_patterns("__pycache__", "tests", "_lib"))
    shutil.copy(FOLDER.parents[1] / "LICENSE", copy / "LICENSE")
    monkeypatch.delenv("CAIRN_BUNDLE")
    return copy


def test_pip_takes_along_what_was_built_in_the_checkout(checkout: Path, tmp_path: Path) -> None:
    (checkout / "build/src").mkdir(parents=True)
    shutil.copy(cairn.library().path, checkout / "build/src/libcairn.so.0")
    target = tmp_path / "installed"
    pip("install", "-q", "--no-deps", "--target", target, checkout / "sdk/python")
    done = python("import cairn; print(cairn.library().path); cairn.open('memory:').close()", PYTHONPATH=str(target))
    assert done.stdout.split() == [str(target / "cairn/_lib/libcairn.so.0")], done.stderr


def test_without_a_library_of_this_version_a_wheel_is_pure(checkout: Path, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cairn_build, "HERE", str(checkout / "sdk/python"))
    assert build(tmp_path / "none").name.endswith("-py3-none-any.whl")
    assert capsys.readouterr().err.count("WARNING") == 1
    (checkout / "build/src").mkdir(parents=True)
    shutil.copy(cairn.library().path, checkout / "build/src/libcairn.so.0")
    (checkout / "sdk/python/cairn/_version.py").write_text('__version__ = "9.9.9"\n')
    assert build(tmp_path / "other").name.endswith("9.9.9-py3-none-any.whl")


def test_the_platform_of_a_wheel_with_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_BUNDLE", cairn.library().path)
    assert build(tmp_path / "this").name.endswith(f"-py3-none-linux_{os.uname().machine}.whl")
    monkeypatch.setenv("CAIRN_PLATFORM", "manylinux_2_28_x86_64")
    wheel = build(tmp_path / "named")
    assert wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    with zipfile.ZipFile(wheel) as content:
        assert content.getinfo("cairn/_lib/libcairn.so.0").external_attr >> 16 == 0o755
        assert b"Root-Is-Purelib: false" in content.read(f"cairn_sdk-{cairn.__version__}.dist-info/WHEEL")


def test_an_editable_wheel_points_here(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / cairn_build.build_editable(str(tmp_path))) as content:
        (path,) = [name for name in content.namelist() if name.endswith(".pth")]
        assert content.read(path).decode().strip() == str(FOLDER)


# ---- finding the library --------------------------------------------------------------------------


def test_importing_loads_nothing() -> None:
    done = python("import cairn; from cairn import _library; print(_library._loaded)", PYTHONPATH=str(FOLDER), CAIRN_LIBRARY="/nowhere")
    assert done.stdout.split() == ["None"], done.stderr


def test_a_library_that_is_not_there_names_all_places() -> None:
    done = python("import cairn; cairn.library()", PYTHONPATH=str(FOLDER), CAIRN_LIBRARY="/nowhere/libcairn.so")
    assert "ImportError" in done.stderr
    assert "$CAIRN_LIBRARY: /nowhere/libcairn.so" in done.stderr
    assert "_lib" in done.stderr and "libcairn.so.0" in done.stderr
    for way in ("./run --build", "CAIRN_BUNDLE=", "CAIRN_LIBRARY=", "the package cairn"):
        assert way in done.stderr


def test_a_library_that_is_something_else() -> None:
    done = python("import cairn; cairn.library()", PYTHONPATH=str(FOLDER), CAIRN_LIBRARY="libc.so.6")
    assert "ImportError: libc.so.6 is not libcairn" in done.stderr


def test_a_library_that_is_too_old(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no compiler")
    source = tmp_path / "old.c"
    source.write_text('const char *cairn_version(void) { return "0.0.9"; }\n')
    old = tmp_path / "libcairn.so.0"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", old, source], check=True)
    done = python("import cairn; cairn.library()", PYTHONPATH=str(FOLDER), CAIRN_LIBRARY=str(old))
    assert "ImportError" in done.stderr and "0.0.9" in done.stderr and cairn.__version__ in done.stderr


def test_import_is_quick() -> None:
    """Nothing large is imported with it."""
    done = python("import sys; before = set(sys.modules); import cairn; print(sorted(set(sys.modules) - before))",
                  PYTHONPATH=str(FOLDER))
    assert not {"asyncio", "sqlite3", "pydantic", "psycopg", "opentelemetry"} & set(eval(done.stdout)), done.stderr
