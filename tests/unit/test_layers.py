#!/usr/bin/env python3
# tests/unit/test_layers.py - the tree keeps its layers, and scripts/layers.py notices when it does not.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_layers.py SOURCE-FOLDER
"""
import os
import sys
import tempfile

TABLE = """
src/base:   cairn.h
src/core:   src/base
src/store:  src/base src/core/row.h <sqlite3.h> queries.h
src/engine: src/base src/core src/store
"""

# (what is tried, table, files, what must be found)
CASES = [
    ('a call downwards is allowed', TABLE,
     {'src/core/job.c': '#include "base/error.h"', 'src/base/error.h': '#include "cairn.h"'}, []),
    ('a call upwards is noticed', TABLE,
     {'src/core/job.c': '\n#include "engine/batch.h"', 'src/engine/batch.h': ''},
     ['src/core/job.c:2: src/core may not include src/engine/batch.h']),
    ('a header by its bare name is noticed too', TABLE,
     {'src/core/job.c': '#include "../store/store.h"', 'src/store/store.h': ''},
     ['src/core/job.c:1: src/core may not include src/store/store.h']),
    ('one header of a room may be allowed alone', TABLE,
     {'src/store/a.c': '#include "core/row.h"\n#include "core/job.h"',
      'src/core/row.h': '', 'src/core/job.h': ''},
     ['src/store/a.c:2: src/store may not include src/core/job.h']),
    ('the public header is for those who name it', TABLE,
     {'src/core/job.c': '#include <cairn.h>'},
     ['src/core/job.c:1: src/core may not include cairn.h']),
    ('a library belongs to the room that names it', TABLE,
     {'src/engine/a.c': '#include <sqlite3.h>', 'src/store/a.c': '#include <sqlite3.h>'},
     ['src/engine/a.c:1: src/engine may not include sqlite3.h']),
    ('so does a generated header', TABLE,
     {'src/engine/a.c': '#include "queries.h"', 'src/store/a.c': '#include "queries.h"'},
     ['src/engine/a.c:1: src/engine may not include queries.h']),
    ('a room that is not in the table is noticed', TABLE,
     {'src/new/a.c': '#include <stdio.h>'},
     ['src/new/a.c:1: the room src/new is not in spec/layers.txt']),
    ('the table cannot go round in a circle', 'src/base: src/core\nsrc/core: src/base\n', {},
     ['layers.txt:1: src/base names src/core, which does not stand before it']),
]


def run_case(layers, table_text, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {'spec/layers.txt': table_text, 'include/cairn.h': '', **files}.items():
            place = os.path.join(root, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, 'w', encoding='utf-8') as file:
                file.write(text)
        table = layers.Table(os.path.join(root, 'spec', 'layers.txt'))
        found = [f'{path}:{line}: {why}' for path, line, why in layers.violations(root, table)]
        return table.flaws + found


def report(number, name, is_good, detail):
    print(f'{"ok" if is_good else "not ok"} {number} - {name.replace(" ", "_")}')
    if not is_good:
        print('\n'.join(f'# {line}' for line in detail))
    return is_good


def main():
    root = sys.argv[1]
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(root, 'scripts'))
    import layers

    print(f'1..{len(CASES) + 1}')
    results = []
    for number, (name, table, files, expected) in enumerate(CASES, 1):
        found = run_case(layers, table, files)
        results.append(report(number, name, found == expected, [f'found {found}', f'not {expected}']))
    table = layers.Table(os.path.join(root, 'spec', 'layers.txt'))
    found = table.flaws + [f'{path}:{line}: {why}' for path, line, why in layers.violations(root, table)]
    results.append(report(len(CASES) + 1, 'the tree keeps its layers', not found, found))
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
