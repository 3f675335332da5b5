#!/usr/bin/env python3
"""Turns the SQL files of a back end into two C headers.

usage: embed_sql.py STORE ENUM PREFIX QUERY_H SQL_H DEPFILE

STORE is a folder with queries/ and migrations/.  A file in queries/ holds the queries of one
noun, each under its name:

    -- name: list_events
    -- doing: list events
    -- Why the query is as it is, its parameters, what it returns.
    SELECT ...

`doing` completes the error message "could not ..."; without it the name does, with spaces.

What several queries of a store have in common is a part, written once:

    -- part: matches
    -- What it means, and its parameters.
    (@status = $1 AND @seq < $2)

`{matches r}` in a query stands for its lines, with `r.` in place of each @; `{matches}` for the same without an alias.
A part may name parts that stand before it.

QUERY_H gets the enum ENUM: PREFIX_LIST_EVENTS and so on, and ENUM_COUNT last.  SQL_H gets the
texts, SQL_LIST_EVENTS and so on; a table of names, messages and texts by number, `sql_queries`;
the migrations in order, `migrations`; and for SQLite `whole_schema`, the tables as all migrations together leave them in a new
file, which are made much faster than by changing them again and again (NULL if Python's SQLite cannot execute them).  Lines that are only a comment are left out,
and lists of columns such as {step.columns} are written out: see spec/rows.txt.

A migration begins with what `cairn migrate --dry-run` says of it, and on PostgreSQL which locks it
takes on tables that are there:

    -- 0013_pauses: who has paused an instance, why and when; NULL unless it is paused.
    -- locks: workflow_instance for a moment
    -- oldest: 0036

`CREATE INDEX CONCURRENTLY IF NOT EXISTS NAME ON TABLE ...;` in a migration of PostgreSQL goes into its `ahead`: it is
executed before the migration, outside of a transaction, while work goes on.  The migration itself creates the
index only if it is not there, or not whole.  What such an index needs (a new column) stands between `-- first:` and
`-- then:`; it is executed before the indexes, in a transaction of its own, and again with the migration, so each of its
statements says IF NOT EXISTS.  An index that takes the place of another is built as NAME_next, and renamed by the
migration.

DEPFILE tells ninja what was read: the files, and the folders, so that a new file is noticed."""
import pathlib
import re
import sqlite3
import sys
import textwrap

import rows

WIDTH = 96


class Query:
    def __init__(self, name, where):
        self.name, self.where = name, where
        self.doing = name.replace("_", " ")
        self.lines = []


class Part(Query):
    """Lines that queries name."""


def is_statement(line):
    return line.strip() and not line.strip().startswith("--")


def read_queries(path):
    queries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        field = re.fullmatch(r"-- (name|part|doing): (.*)", line)
        if field and field[1] != "doing":
            if not re.fullmatch(r"[a-z][a-z0-9_]*", field[2]):
                sys.exit(f"{path}:{number}: \"{field[2]}\" is not a name of lower case letters")
            queries.append((Query if field[1] == "name" else Part)(field[2], f"{path}:{number}"))
        elif field and queries:
            queries[-1].doing = field[2]
        elif is_statement(line) and not queries:
            sys.exit(f"{path}:{number}: a statement before the first \"-- name: \"")
        elif is_statement(line):
            queries[-1].lines.append(line.rstrip())
    return queries


def check(queries):
    seen = {}
    for query in queries:
        if not query.lines:
            sys.exit(f"{query.where}: {query.name} has no statement")
        if query.name in seen:
            sys.exit(f"{query.where}: {query.name} is also at {seen[query.name]}")
        seen[query.name] = query.where


def write_parts(query, parts):
    """Puts the lines of parts into a query; those behind the first are indented as it is."""
    def write(found):
        part = parts.get(found[1])
        if not part:
            sys.exit(f"{query.where}: there is no part \"{found[1]}\" before it")
        part.is_used = True
        alias = f"{found[2]}." if found[2] else ""
        begun = found.start() - (found.string.rfind("\n", 0, found.start()) + 1)
        return "\n".join(part.lines).replace("@", alias).replace("\n", "\n" + " " * begun)

    text = re.sub(r"\{([a-z_]+)(?: ([a-z_]+))?\}", write, "\n".join(query.lines))
    query.lines = text.splitlines()


def take_parts(queries):
    """The queries alone, with what they name of parts."""
    parts = {}
    for query in queries:
        write_parts(query, parts)
        if isinstance(query, Part):
            query.is_used = False
            parts[query.name] = query
    for part in parts.values():
        if not part.is_used:
            sys.exit(f"{part.where}: no query names {part.name}")
    return [query for query in queries if not isinstance(query, Part)]


def write_out(queries, dialect):
    for query in queries:
        query.lines = rows.expand("\n".join(query.lines), dialect).splitlines()


def literal(lines):
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "\n".join(f'    "{line}\\n"' for line in escaped)


def table_entry(query, prefix):
    upper = query.name.upper()
    number = f"    [{prefix}_{upper}] ="
    rest = f'{{"{query.name}", "{query.doing}", SQL_{upper}}},'
    if len(number) + 1 + len(rest) <= WIDTH:
        return f"{number} {rest}"
    return f"{number}\n        {rest}"


def header(name, text):
    guard = f"STORE_{name.upper()}_H"
    return (f"/* store/{name}.h - made by scripts/embed_sql.py. */\n"
            f"#ifndef {guard}\n#define {guard}\n\n{text}\n#endif\n")


def query_header(queries, store, enum, prefix):
    names = [f"{prefix}_{query.name.upper()}" for query in queries] + [f"{enum.upper()}_COUNT"]
    numbers = textwrap.fill(", ".join(names), WIDTH, initial_indent="    ", subsequent_indent="    ")
    return header(f"{store}_query", f"enum {enum} {{\n{numbers}\n}};\n")


def query_table(queries, enum, prefix):
    entries = "\n".join(table_entry(query, prefix) for query in queries)
    return ("static const struct {\n"
            "    const char *name;\n"
            "    const char *doing; /* completes \"could not ...\" */\n"
            "    const char *sql;\n"
            f"}} sql_queries[{enum.upper()}_COUNT] = {{\n{entries}\n}};")


def migration_about(path, lines, store):
    """What the first comment says: what the migration is for, its locks, and the oldest version that may go on."""
    about, locks, oldest = [], "", 0
    for line in lines:
        if line.startswith("-- locks: "):
            locks = line.removeprefix("-- locks: ")
        elif line.startswith("-- oldest: "):
            oldest = int(line.removeprefix("-- oldest: "))
        elif not line.startswith("-- "):
            break
        else:
            about.append(line.removeprefix("-- "))
    name, colon, does = " ".join(about).partition(": ")
    if not colon or name != path.stem:
        sys.exit(f"{path}:1: a migration begins with \"-- {path.stem}: \" and what it is for")
    if not locks and store == "postgres":
        sys.exit(f"{path}: below its first sentence stands \"-- locks: \" and which tables others wait for, "
                 "and for how long; or \"none\"")
    if oldest > int(path.stem.split("_")[0]):
        sys.exit(f"{path}: \"-- oldest: \" is an earlier version, or this one")
    return does.partition(".  ")[0].removesuffix("."), locks, oldest


AHEAD = re.compile(r"^CREATE INDEX CONCURRENTLY IF NOT EXISTS (\w+)\s+ON (\w+)\.[^;]*;", re.MULTILINE)


def create_if_missing(found):
    """What a migration does about an index that was to be built before it."""
    return (f"DO $body$ BEGIN\n"
            f"    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('{found[2]}.{found[1]}') AND NOT indisvalid) THEN\n"
            f"        DROP INDEX {found[2]}.{found[1]};\n"
            f"    END IF;\n"
            f"END $body$;\n" + found[0].replace(" CONCURRENTLY", ""))


FIRST = re.compile(r"^-- first:.*?^-- then:", re.MULTILINE | re.DOTALL)


def first_text(path, text):
    """What is executed before the indexes, as an expression."""
    found = FIRST.search(text)
    if not found:
        return "NULL"
    lines = [line for line in found[0].splitlines() if is_statement(line)]
    for statement in "\n".join(lines).split(";")[:-1]:
        if not re.match(r"\s*ALTER TABLE workflow\.\w+(\s*ADD COLUMN IF NOT EXISTS [^,]*,?)+$", statement):
            sys.exit(f"{path}: between \"-- first:\" and \"-- then:\" columns are added, each with IF NOT EXISTS")
    return f"\n{literal(lines)}"


def ahead_table(name, text):
    """An index, its schema and its statement for each, and the expression that names them all."""
    found = list(AHEAD.finditer(text))
    if not found:
        return "", "NULL"
    entries = "\n".join(f'    {{"{it[2]}", "{it[1]}",\n{literal(it[0].splitlines())}}},' for it in found)
    return f"static const struct store_ahead ahead_{name}[] = {{\n{entries}\n    {{0}}}};\n", f"ahead_{name}"


def migration_table(paths, store):
    parts, tables = ["static const struct store_migration migrations[] = {"], []
    for path in paths:
        whole = "\n".join(it.rstrip() for it in path.read_text(encoding="utf-8").splitlines())
        table, ahead = ahead_table(path.stem, whole)
        tables.append(table)
        lines = AHEAD.sub(create_if_missing, whole).splitlines()
        *told, oldest = migration_about(path, lines, store)
        about = "\n".join(literal([text]).replace("\\n\"", "\",") for text in told)
        text = literal(line.rstrip() for line in lines if is_statement(line))
        parts.append(f'{{{int(path.stem.split("_")[0])}, {oldest}, "{path.stem}",\n{about}\n{text},\n    {first_text(path, whole)},\n    {ahead}}},')
    return "".join(tables) + "\n".join(parts) + "\n};"


def whole_schema(paths):
    """The statements that make what the migrations leave in an empty database, as an expression."""
    try:
        db = sqlite3.connect(":memory:", isolation_level=None)
        # As in sqlite/schema.c, which makes it itself.
        db.execute("CREATE TABLE workflow_migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT")
        for path in paths:
            db.executescript(path.read_text(encoding="utf-8"))
    except sqlite3.Error:
        return "NULL"
    made = db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid").fetchall()
    lines = ["DROP TABLE workflow_migration;"]
    for (sql,) in made:
        lines += [line.rstrip() for line in f"{sql};".splitlines() if is_statement(line)]
    lines += [line for line in db.iterdump() if line.startswith("INSERT INTO \"workflow_")]
    return f"\n{literal(lines)}"


def sql_header(queries, migrations, store, enum, prefix):
    parts = [f'#include "store/store.h"\n#include "store/{store}/{store}_query.h"',
             '#pragma GCC diagnostic ignored "-Woverlength-strings"']
    for query in queries:
        parts.append(f"static const char SQL_{query.name.upper()}[] =\n{literal(query.lines)};")
    parts.append(query_table(queries, enum, prefix))
    parts.append(migration_table(migrations, store) + "\n")
    if store == "sqlite":
        parts.append(f"static const char *const whole_schema = {whole_schema(migrations)};\n")
    return header(f"{store}_sql", "\n\n".join(parts))


def main():
    folder, enum, prefix, query_h, sql_h, depfile = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    files = sorted((folder / "queries").glob("*.sql"))
    migrations = sorted((folder / "migrations").glob("*.sql"))
    queries = [query for path in files for query in read_queries(path)]
    check(queries)
    queries = take_parts(queries)
    write_out(queries, folder.name)
    for path, text in ((query_h, query_header(queries, folder.name, enum, prefix)),
                       (sql_h, sql_header(queries, migrations, folder.name, enum, prefix))):
        pathlib.Path(path).write_text(text, encoding="utf-8")
    read = [folder / "queries", folder / "migrations", *files, *migrations]
    names = " ".join(str(path).replace(" ", "\\ ") for path in read)
    pathlib.Path(depfile).write_text(f"{query_h}: {names}\n", encoding="utf-8")


main()
