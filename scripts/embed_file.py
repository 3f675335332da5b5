#!/usr/bin/env python3
"""Turns a file into a C header with its bytes.

usage: embed_file.py INPUT OUTPUT

spec/openapi.json becomes `static const unsigned char openapi_json[]`."""
import pathlib
import sys


def main():
    source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    data = source.read_bytes()
    name = source.name.replace(".", "_").replace("-", "_")
    rows = [", ".join(str(byte) for byte in data[i:i + 20]) for i in range(0, len(data), 20)]
    output.write_text("/* Made by scripts/embed_file.py. */\n"
                      f"static const unsigned char {name}[] = {{\n    "
                      + ",\n    ".join(rows) + ",\n};\n", encoding="utf-8")


main()
