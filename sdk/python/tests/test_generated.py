# SPDX-License-Identifier: Apache-2.0
"""Files that are made from others are up to date, and agree with the library that is loaded."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from cairn import _abi, _library
from cairn._library import load

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(not (ROOT / "include/cairn.h").exists(), reason="not in the repository")
def test_generated_files_are_up_to_date():
    done = subprocess.run([sys.executable, str(ROOT / "scripts/gen_python.py"), "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_structs_have_the_sizes_of_the_library():
    library = load()
    sizes = {name: library.cairn_sizeof(name.encode()) for name in _abi.STRUCTS}
    assert {name: ctypes.sizeof(struct) for name, struct in _abi.STRUCTS.items()} == sizes


@pytest.mark.parametrize("abi, size, message", [(_abi.ABI + 1, 1 << 20, "has the ABI"), (_abi.ABI, 1, "does not fit")])
def test_a_library_that_does_not_fit_is_refused(abi, size, message):
    class Other:
        @staticmethod
        def cairn_abi():
            return abi

        @staticmethod
        def cairn_sizeof(name):
            return size

    with pytest.raises(ImportError, match=message):
        _library._check_sizes(Other(), "libcairn.so", [])
    _library._check_sizes(load(), "libcairn.so", [])


def test_no_prototype_is_missing_in_the_library():
    assert _abi.bind(load()) == []


def test_defaults():
    claim = _abi.new(_abi.cairn_claim_options, max=5)
    assert (claim.size, claim.max, claim.lease_ms) == (ctypes.sizeof(_abi.cairn_claim_options), 5, 30000)
