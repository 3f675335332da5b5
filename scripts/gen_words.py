#!/usr/bin/env python3
"""Writes cairn_words.h, the public enums, from spec/words.txt.

usage: gen_words.py HEADER"""
import sys

import rows


def enum(words):
    yield f"/* {words.comment[0].upper() + words.comment[1:]}. */"
    yield f"typedef enum cairn_{words.name} {{"
    yield f"    {words.public}_UNKNOWN, /* a word that this library does not know */"
    labels = [f"{words.public}_{name.upper()}" for name, _, _ in words.words]
    yield ",\n".join("    " + label for label in labels)
    yield f"}} cairn_{words.name};\n"


def header(lists):
    yield "/* cairn_words.h - words of cairn.h as enums: the status and the kind of things."
    yield " *"
    yield " * Made from spec/words.txt.  A number, once released, keeps its meaning. */"
    yield "#ifndef CAIRN_WORDS_H\n#define CAIRN_WORDS_H\n"
    for words in lists:
        if words.public:
            yield from enum(words)
    yield "#endif"


with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("\n".join(header(rows.read_words())) + "\n")
