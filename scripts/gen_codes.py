#!/usr/bin/env python3
"""Writes cairn_codes.h (with --table: the C table behind cairn_code_name) from spec/errors.txt."""
import sys


def rows(path):
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if line:
            name, number, http, meaning = line.split(None, 3)
            yield name, int(number), int(http), meaning


def header(codes):
    yield "/* cairn_codes.h - every code that a call can end with.  Made from spec/errors.txt. */"
    yield "#ifndef CAIRN_CODES_H\n#define CAIRN_CODES_H\n"
    yield "typedef enum cairn_code {"
    for name, number, _, meaning in codes:
        label = "CAIRN_OK" if number == 0 else "CAIRN_E_" + name.upper()
        yield f"    {label} = {number}, /* {meaning} */"
    yield "} cairn_code;\n\n#endif"


def table(codes):
    for name, number, http, meaning in codes:
        yield f'    [{number}] = {{"{name}", {http}, "{meaning}"}},'


def main():
    codes = list(rows(sys.argv[1]))
    lines = table(codes) if "--table" in sys.argv else header(codes)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()
