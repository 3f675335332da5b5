#!/usr/bin/env python3
"""Turns SQL files into a C header, one string constant a file.

usage: embed_sql.py OUTPUT FILE...

queries/claim_jobs.sql becomes SQL_CLAIM_JOBS; migrations/0001_jobs.sql becomes an entry of
`migrations`, in order of number.  Lines that are only a comment are left out."""
import pathlib
import sys


def text(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.strip().startswith("--"):
            yield line.rstrip()


def literal(path):
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text(path)]
    return "\n".join(f'    "{line}\\n"' for line in lines)


def main():
    output, files = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    parts = ["/* Made by scripts/embed_sql.py. */",
             '#pragma GCC diagnostic ignored "-Woverlength-strings"']
    for path in sorted(path for path in files if path.parent.name == "queries"):
        parts.append(f"static const char SQL_{path.stem.upper()}[] =\n{literal(path)};")
    migrations = sorted(path for path in files if path.parent.name == "migrations")
    if migrations:
        parts.append("static const struct {\n    int number;\n    const char *name;\n"
                     "    const char *sql;\n} migrations[] = {")
        for path in migrations:
            number = int(path.stem.split("_")[0])
            parts.append(f'{{{number}, "{path.stem}",\n{literal(path)}}},')
        parts.append("};")
    pathlib.Path(output).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


main()
