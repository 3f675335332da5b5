#!/usr/bin/env python3
# check_symbols.py CAIRN.H CAIRN.MAP LIBCAIRN.SO LIBCAIRN.A - the header, the list of exported
# symbols and both libraries have the same names.
#
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys

header, script, shared, static = sys.argv[1:]


def declared():
    text = open(header, encoding="utf-8").read()
    return set(re.findall(r"^CAIRN_API [^;(]*?\b(cairn_\w+)\(", text, re.M))


def listed():
    text = open(script, encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    exported = re.findall(r"global:(.*?)(?:local:|\})", text, re.S)
    hidden = re.findall(r"local:\s*(\S+);", text)
    return set(re.findall(r"[\w*]+", " ".join(exported))), hidden


def defined(*args):
    """The names that a library defines for others."""
    out = subprocess.run(["nm", "--defined-only", "--extern-only", *args], check=True,
                         capture_output=True, text=True).stdout
    words = [line.split() for line in out.splitlines()]
    names = {fields[-1].split("@")[0] for fields in words
             if len(fields) == 3 and fields[1] in "TDBRV"}
    return {name for name in names if not name.startswith(("__asan", "__odr_asan", "CAIRN_"))}


def compare(number, what, seen, wanted):
    missing, extra = sorted(wanted - seen), sorted(seen - wanted)
    print(f"{'not ' if missing or extra else ''}ok {number} - {what}")
    for words, names in (("missing", missing), ("too many", extra)):
        if names:
            print(f"# {words}: {' '.join(names[:20])}")
    return not missing and not extra


print("1..3")
names = declared()
exported, hidden = listed()
is_good = compare(1, "cairn.map lists what cairn.h declares", exported, names) and hidden == ["*"]
is_good &= compare(2, "the shared library exports it", defined("--dynamic", shared), names)
is_good &= compare(3, "the static library defines it, and nothing else", defined(static), names)
sys.exit(0 if is_good else 1)
