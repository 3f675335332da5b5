#!/usr/bin/env python3
"""tests/cli/docs.py - the last part of docs/cli.md is what "cairn help --markdown" prints.

SPDX-License-Identifier: Apache-2.0

    docs.py CAIRN docs/cli.md             prints TAP; fails if the file is out of date
    docs.py CAIRN docs/cli.md --update    writes the part anew
"""
import pathlib
import subprocess
import sys

MARK = "<!-- Made by cairn help --markdown; renew it with tests/cli/docs.py --update. -->\n"


def main():
    cairn, path = sys.argv[1], pathlib.Path(sys.argv[2])
    made = subprocess.run([cairn, "help", "--markdown"], check=True, capture_output=True,
                          encoding="utf-8").stdout
    text, mark, part = path.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        sys.exit(f"{path} has no line {MARK}")
    if "--update" in sys.argv:
        path.write_text(text + mark + made, encoding="utf-8")
        return
    print("1..1")
    if part == made:
        print("ok 1 - docs/cli.md describes the commands as they are")
    else:
        print("not ok 1 - docs/cli.md describes the commands as they are")
        print(f"# renew it with: tests/cli/docs.py {cairn} {path} --update")


main()
