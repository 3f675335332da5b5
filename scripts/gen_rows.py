#!/usr/bin/env python3
"""Writes core/rows.h and core/rows.c from spec/rows.txt and spec/words.txt.

usage: gen_rows.py HEADER SOURCE"""
import sys
import textwrap

import rows

WIDTH = 96


def comment(text, indent=""):
    """A comment of its own."""
    if len(indent) + len(text) + 6 <= WIDTH:
        return [f"{indent}/* {text} */"]
    wrapped = textwrap.wrap(text, WIDTH - len(indent) - 6)
    return [f"{indent}/* {wrapped[0]}"] + [f"{indent} * {line}" for line in wrapped[1:-1]] + [
        f"{indent} * {wrapped[-1]} */"]


def member(code, text):
    """A line of a struct or an enum with its comment, beside it or above it."""
    line = f"    {code}"
    if not text:
        return [line]
    if len(line) + len(text) + 7 <= WIDTH:
        return [f"{line} /* {text} */"]
    return comment(text, "    ") + [line]


def enum(words):
    yield from comment(words.comment[0].upper() + words.comment[1:] + ".")
    yield f"enum {words.name} {{"
    if words.has_none:
        yield f"    {words.prefix}_NONE, /* zeroed memory is no word */"
    for name, _, text in words.words:
        yield from member(f"{words.prefix}_{name.upper()},", text)
    yield f"    {words.name.upper()}_COUNT\n}};"
    yield f"DECLARE_{'WORDS' if words.has_none else 'NAMES'}({words.name})\n"


def c_type(column):
    if column.words:
        return f"enum {column.words} "
    return column.kind.c + ("" if column.kind.c.endswith("*") else " ")


def struct(row):
    yield from comment(row.comment)
    yield f"struct {row.struct} {{"
    for at, column in enumerate(row.columns):
        if at in row.sections:
            yield from ([""] if at else []) + comment(row.sections[at], "    ")
        yield from member(f"{c_type(column)}{column.member};", column.comment)
    yield "};\n"


def header(lists, tables):
    yield "/* core/rows.h - the rows of a store, and the words in them."
    yield " *"
    yield " * Made by scripts/gen_rows.py from spec/rows.txt and spec/words.txt.  Texts that are not set"
    yield " * are NULL, times 0, places in a plan -1. */"
    yield "#ifndef CORE_ROWS_H\n#define CORE_ROWS_H\n"
    yield '#include "core/row.h"\n'
    for words in lists:
        yield from enum(words)
    for row in tables:
        yield from struct(row)
    names = [f"{row.name}_row_type" for row in tables]
    yield from fill("extern const struct row_type", names, ";")
    yield "\n#endif"


def fill(start, items, end):
    """A statement with a list, in lines that are not too long."""
    text = f"{start} {', '.join(items)}{end}"
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False)


def names(words):
    texts = ["NULL"] * words.has_none + [f'"{text}"' for _, text, _ in words.words]
    yield f"const struct words {words.name}_words = {{{words.name.upper()}_COUNT, {{"
    yield from fill("   ", texts, "}};")


def entry(row, column):
    flags = ["COLUMN_" + column.written.upper()]
    for flag in ("null", "null-in-sqlite", "postgres-only", "key", "now", "empty"):
        if flag in column.flags:
            flags.append("COLUMN_" + flag.upper().replace("-", "_"))
    fields = [f'"{column.name}"', column.kind.name.upper() + "_COLUMN", f"AT({row.struct}, {column.member})",
              " | ".join(flags), f"&{column.words}_words" if column.words else "NULL"]
    return "    {" + ", ".join(fields) + "},"


def table(row):
    yield f'\nconst struct row_type {row.name}_row_type = {{'
    stored = [column for column in row.columns if column.is_stored()]
    yield f'    "{row.table}", sizeof(struct {row.struct}), {len(stored)}, (const struct column[]){{'
    for column in stored:
        yield entry(row, column)
    yield "}};"


def source(lists, tables):
    yield "/* core/rows.c - the columns of each row, and the words in them."
    yield " *"
    yield " * Made by scripts/gen_rows.py from spec/rows.txt and spec/words.txt. */"
    yield '#include "core/rows.h"\n'
    for words in lists:
        yield from names(words)
    yield "\n#define AT(row, member) offsetof(struct row, member)"
    for row in tables:
        yield from table(row)


def main():
    lists, tables = rows.read_words(), rows.read_rows()
    for path, text in ((sys.argv[1], header), (sys.argv[2], source)):
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(text(lists, tables)).rstrip() + "\n")


main()
