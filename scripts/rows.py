"""Reads spec/rows.txt and spec/words.txt, and writes the lists of columns that SQL files name."""
import functools
import pathlib
import re

SPEC = pathlib.Path(__file__).resolve().parent.parent / "spec"
FLAGS = {"null", "null-in-sqlite", "postgres-only", "large", "keep", "key", "now", "empty"}
KEYWORDS = {"group"}  # names that SQL takes for words of its own


class Kind:
    """A kind of column: its types in C and in both databases."""

    def __init__(self, name, c, sqlite, postgres, read_as):
        self.name, self.c, self.read_as = name, c, read_as
        self.type = {"sqlite": sqlite, "postgres": postgres}


class Column:
    """A column of a row; `flags` are options of rows.txt without a value."""

    def __init__(self, name, kind, words, written, options):
        self.name, self.kind, self.words, self.written = name, kind, words, written
        self.sql = f'"{name}"' if name in KEYWORDS else name
        self.flags = set(options) & FLAGS
        self.member = name + "_us" if kind.name == "time" else name
        for option in options:
            if option.startswith("member="):
                self.member = option[len("member="):]
            elif option not in FLAGS:
                raise ValueError(f"column {name}: unknown option {option}")
        self.comment = ""

    def is_in(self, dialect):
        return self.is_stored() and (dialect == "postgres" or "postgres-only" not in self.flags)

    def is_stored(self):
        return self.written != "memory"


class Row:
    """A row: its columns, and the comments that stand between them in C."""

    def __init__(self, name, struct, table, comment):
        self.name, self.struct, self.table, self.comment = name, struct, table, comment
        self.columns, self.sections = [], {}


class Words:
    """An enum and its words: (name in C, text, comment)."""

    def __init__(self, name, prefix, comment):
        self.name, self.prefix, self.comment = name, prefix, comment
        self.has_none, self.public, self.words = True, None, []


def lines(path):
    """Yields (fields, comment) of each line that says something."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            text, _, comment = (" " + line).partition(" -- ")
            if text.strip() == "--":
                text = ""
            yield text.strip(), comment.strip()


def read_words(path=SPEC / "words.txt"):
    lists, latest = [], None
    for text, comment in lines(path):
        fields = text.split()
        if not fields:
            latest[2] += " " + comment
        elif fields[0] == "words":
            lists.append(Words(fields[1], fields[2], comment))
        elif fields == ["from-zero"]:
            lists[-1].has_none = False
        elif fields[0] == "public":
            lists[-1].public = fields[1]
        else:
            latest = [fields[0], fields[2] if "=" in fields else fields[0], comment]
            lists[-1].words.append(latest)
    return lists


def read_column(text, kinds):
    fields = text.split()
    name, kind = fields[0], kinds[fields[1]]
    words = fields.pop(2) if kind.c == "enum" else None
    return Column(name, kind, words, fields[2], fields[3:])


@functools.lru_cache
def read_rows(path=SPEC / "rows.txt"):
    kinds, rows = {}, []
    for text, comment in lines(path):
        if not text:
            rows[-1].columns[-1].comment += " " + comment
        elif text.startswith("kind ") and "|" in text:
            fields = [field.strip() for field in text[len("kind "):].split("|")]
            kinds[fields[0]] = Kind(*fields)
        elif text.startswith("row "):
            rows.append(Row(*text.split()[1:], comment))
        elif text.startswith("section "):
            sections, at = rows[-1].sections, len(rows[-1].columns)
            sections[at] = (sections.get(at, "") + " " + text[len("section "):]).strip()
        else:
            rows[-1].columns.append(read_column(text, kinds))
            rows[-1].columns[-1].comment = comment
    return rows


# ---- lists for SQL ---------------------------------------------------------------------------


def read_item(column, dialect, alias):
    """A column as SELECT names it."""
    name = f"{alias}.{column.sql}" if alias else column.sql
    cast = column.kind.read_as if dialect == "postgres" else ""
    return f"{name}::{cast}" if cast else name


def value(column, dialect):
    """The value that is written: SQLite's parameter, or a column of `given` in PostgreSQL, where
    0, false and {} travel as NULL."""
    if dialect == "sqlite" and "empty" in column.flags:
        return f"coalesce(:{column.name}, '')"
    if dialect == "sqlite":
        return ":now" if "now" in column.flags else f":{column.name}"
    if "empty" in column.flags:
        return f"coalesce(given.{column.sql}, '')"
    zero = {"int32": "0", "int64": "0", "bool": "false", "json": "'{}'"}.get(column.kind.name)
    if zero and "null" not in column.flags:
        return f"coalesce(given.{column.sql}, {zero})"
    return f"given.{column.sql}"


def change(column, dialect, alias):
    new = value(column, dialect)
    if "keep" in column.flags:
        new = f"coalesce({new}, {alias + '.' if alias else ''}{column.sql})"
    return f"{column.sql} = {new}"


def values(columns, dialect):
    """The values of an INSERT; in PostgreSQL the time of the transaction follows the arrays."""
    last = len([c for c in columns if "now" not in c.flags]) + 1
    return [f"${last}::{c.kind.type[dialect]}" if "now" in c.flags and dialect == "postgres"
            else value(c, dialect) for c in columns]


def arrays(columns):
    return [f"unnest(${number}::{column.kind.type['postgres']}[]) AS {column.sql}"
            for number, column in enumerate(columns, 1)]


def list_items(row, what, words, dialect):
    """The items of {row.what words}."""
    but = words[words.index("but") + 1:] if "but" in words else []
    words = words[:words.index("but")] if "but" in words else words
    columns = [c for c in row.columns if c.is_in(dialect) and c.name not in but]
    inserted = [c for c in columns if c.written != "serial"]
    changed = [c for c in columns if c.written == "change"]
    alias = words[0] if words else ""
    if what == "columns":
        return [read_item(c, dialect, alias) for c in columns]
    if what == "brief":
        return [read_item(c, dialect, alias) for c in columns if "large" not in c.flags]
    if what == "insert":
        return [c.sql for c in inserted]
    if what == "values":
        return values(inserted, dialect)
    if what == "changes":
        return [change(c, dialect, alias) for c in changed]
    if what == "excluded":
        return [f"{c.sql} = excluded.{c.sql}" for c in changed]
    if what == "arrays" and words == ["insert"]:
        return arrays([c for c in inserted if "now" not in c.flags])
    if what == "arrays" and words == ["changes"]:
        return arrays([c for c in columns if "key" in c.flags or c.written == "change"])
    raise ValueError(f"unknown list {{{row.name}.{what} {' '.join(words)}}}")


def wrap(items, start):
    """The items with commas between them, in lines that begin at column `start`."""
    lines = [items[0]]
    for item in items[1:]:
        lines[-1] += ","
        if start + len(lines[-1]) + len(item) + 2 <= 96:
            lines[-1] += " " + item
        else:
            lines.append(item)
    return ("\n" + " " * start).join(lines)


def expand(sql, dialect):
    """Writes out every {row.list} in an SQL text; dialect is "sqlite" or "postgres"."""
    rows = {row.name: row for row in read_rows()}

    def write(match):
        items = list_items(rows[match[1]], match[2], match[3].split(), dialect)
        start = match.start() - (sql.rfind("\n", 0, match.start()) + 1)
        return wrap(items, start)

    return re.sub(r"\{(\w+)\.(\w+)([^}]*)\}", write, sql)
