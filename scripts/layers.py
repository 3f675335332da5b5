#!/usr/bin/env python3
# scripts/layers.py - checks every #include against spec/layers.txt.
#
# SPDX-License-Identifier: Apache-2.0
"""
  scripts/layers.py [SOURCE-FOLDER [TABLE]]

Prints each include that the table does not allow, and a line with the sum.  Ends with status 1 if
there is one, or if the table itself is wrong.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.MULTILINE)
SOURCES = ('.c', '.h', '.cpp')
TOPS = ('src', 'bench', 'examples', 'tests')


class Table:
    """Which room may include what."""

    def __init__(self, path):
        self.allowed = {}       # room -> set of rooms and headers
        self.flaws = []
        with open(path, encoding='utf-8') as text:
            for number, line in enumerate(text, 1):
                line = line.split('#')[0].strip()
                if line:
                    self._add(f'{os.path.basename(path)}:{number}', line)
        self.owned = {name for names in self.allowed.values() for name in names
                      if not name.startswith(TOPS) and name != 'cairn.h'}

    def _add(self, place, line):
        room, colon, names = line.partition(':')
        room = room.strip()
        if not colon:
            self.flaws.append(f'{place}: a line is a room, a colon and what it may include')
            return
        for name in names.split():
            is_room = name.startswith(TOPS)
            if is_room and name == room:
                self.flaws.append(f'{place}: {room} need not name itself')
            elif is_room and not self._is_known(name):
                self.flaws.append(f'{place}: {room} names {name}, which does not stand before it')
        self.allowed.setdefault(room, set()).update(names.split())

    def _is_known(self, name):
        return name in self.allowed or os.path.dirname(name) in self.allowed

    def room_of(self, path):
        """The longest room that the file is in, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.allowed:
            folder = os.path.dirname(folder)
        return folder or None

    def may_include_file(self, room, path):
        return self.room_of(path) == room or {self.room_of(path), path} & self.allowed[room]

    def may_include_outside(self, room, name):
        """A library's header as <name>, or a generated one."""
        folder = name[:name.find('/') + 1] + '>' if name.startswith('<') and '/' in name else name
        names = {name, folder} & self.owned
        return not names or names & self.allowed[room]


def sources(root):
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(name for name in folders if not name.startswith('build'))
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def find(root, path, name):
    """The file of the tree that #include "name" in path means, or None if it is generated."""
    places = [os.path.dirname(path), 'include', 'src', 'tests/lib', '.']
    for place in places:
        candidate = os.path.normpath(os.path.join(place, name))
        if os.path.exists(os.path.join(root, candidate)):
            return candidate
    return None


def violation(root, table, path, quote, name):
    """Why this include is not allowed, or None."""
    room = table.room_of(path)
    if room is None:
        return f'the room {os.path.dirname(path)} is not in spec/layers.txt'
    target = find(root, path, name) if quote == '"' else None
    if name == 'cairn.h' or target == 'include/cairn.h':
        is_allowed = 'cairn.h' in table.allowed[room]
    elif target:
        is_allowed = table.may_include_file(room, target)
    else:
        is_allowed = table.may_include_outside(room, f'<{name}>' if quote == '<' else name)
    return None if is_allowed else f'{room} may not include {target or name}'


def violations(root, table):
    """(path, line, why) of every include that the table does not allow."""
    for path in sources(root):
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = file.read()
        for match in INCLUDE.finditer(text):
            why = violation(root, table, path, match[1], match[2])
            if why:
                yield path, text.count('\n', 0, match.start()) + 1, why


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    root = sys.argv[1] if len(sys.argv) > 1 else here
    path = sys.argv[2] if len(sys.argv) > 2 else os.path.join(root, 'spec', 'layers.txt')
    if len(sys.argv) > 3 or root.startswith('-'):
        sys.exit(__doc__)
    table = Table(path)
    found = [f'{path}:{line}: {why}' for path, line, why in violations(root, table)]
    for text in table.flaws + found:
        print(text)
    print(f'{len(found)} layer violations')
    return 1 if table.flaws or found else 0


if __name__ == '__main__':
    sys.exit(main())
