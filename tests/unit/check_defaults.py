#!/usr/bin/env python3
# check_defaults.py HEADER TEST.c TEST.cpp - no struct with `size`, no _DEFAULTS is left out of the tests.
#
# SPDX-License-Identifier: Apache-2.0
import re
import sys

header, in_c, in_cpp = (open(name, encoding="utf-8").read() for name in sys.argv[1:4])
structs = re.findall(r"typedef struct (\w+) \{\s*size_t size;", header)
macros = re.findall(r"#define (CAIRN_\w+_DEFAULTS)\b", header)
missing = [name for name in structs if f"sizeof({name})" not in in_c]
missing += [name for name in re.findall(r"^(?:typedef )?struct (cairn_\w+) \{", header, re.M)
            if f"SIZE({name})" not in in_c]
missing += [name for name in macros if name not in in_cpp]
print("1..1")
if missing or len(structs) != len(macros) or not structs:
    print(f"not ok 1 - every struct with a size is tested\n# left out: {' '.join(missing)}")
    print(f"# {len(structs)} structs, {len(macros)} macros")
    sys.exit(1)
print(f"ok 1 - all {len(structs)} structs with a size are tested")
