# SPDX-License-Identifier: Apache-2.0
"""docs/guides/python.md and testing.md, each pasted into a program block by block."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guides"


def read_blocks(text):
    """The code of all blocks, and what the comments at their ends say that it prints."""
    code, printed = [], []
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        lines = block.rstrip("\n").split("\n")
        end = len(lines)
        while lines[end - 1].startswith("# "):
            end -= 1
        code += lines[:end]
        printed += [line[2:] for line in lines[end:]]
    return "\n".join(code) + "\n", printed


@pytest.mark.skipif(not GUIDES.exists(), reason="the guides are part of the repository, not of the package")
@pytest.mark.parametrize("name", ["python.md", "testing.md"])
def test_the_guide_prints_what_it_says(tmp_path, name):
    code, printed = read_blocks((GUIDES / name).read_text(encoding="utf-8"))
    (tmp_path / "guide.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == printed
