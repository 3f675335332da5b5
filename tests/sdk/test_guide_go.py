#!/usr/bin/env python3
# tests/sdk/test_guide_go.py - the programs of docs/guides/go.md and testing.md, compiled and run.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_guide_go.py

Needs `go` on the PATH, and what the SDK needs to find libcairn (PKG_CONFIG_PATH, LD_LIBRARY_PATH).  A
program must print what the comment at its end says.  The output is TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
GUIDES = [os.path.join(ROOT, "docs", "guides", name) for name in ("go.md", "testing.md")]


def go(folder, *words):
    return subprocess.run(["go", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=300)


def check_program(folder, path, body):
    """None, or what is wrong."""
    package = "./" + os.path.dirname(path)
    done = go(folder, *(("test", package) if path.endswith("_test.go") else ("run", package)))
    if done.returncode:
        return done.stdout + done.stderr
    if path.endswith("_test.go"):
        return None
    printed = [line[3:] for line in body.partition("// Output:\n")[2].splitlines()]
    return None if done.stdout.splitlines() == printed else f"it printed\n{done.stdout}"


def main():
    programs = []
    for guide in GUIDES:
        with open(guide, encoding="utf-8") as file:
            programs += re.findall(r"^```go (\S+)\n(.*?)^```", file.read(), re.M | re.S)
    failed = 0
    print(f"1..{len(programs)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="cairn-go-guide-") as folder:
        for path, body in programs:
            os.makedirs(os.path.join(folder, os.path.dirname(path)))
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(body)
        go(folder, "mod", "init", "guide")
        go(folder, "mod", "edit", "-require", "cairn.invalid/cairn@v0.0.0", "-replace",
           f"cairn.invalid/cairn={os.path.join(ROOT, 'sdk', 'go')}")
        for number, (path, body) in enumerate(programs, 1):
            wrong = check_program(folder, path, body)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {path}", flush=True)
            if wrong:
                print("\n".join("# " + line for line in wrong.splitlines()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
