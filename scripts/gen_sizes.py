#!/usr/bin/env python3
"""Lists the structs of cairn.h with their sizes, for cairn_sizeof().

usage: gen_sizes.py CAIRN.H OUTPUT"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as header:
    names = re.findall(r"^(?:typedef )?struct (cairn_\w+) \{", header.read(), re.M)
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("/* Made by scripts/gen_sizes.py from cairn.h. */\n")
    out.writelines(f'{{"{name}", sizeof({name})}},\n' for name in sorted(names))
