# bench/server.py - a server of a build on a new store, its memory, and the sizes of tables and indexes.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import contextlib
import json
import os
import socket
import sqlite3
import subprocess

from stores import Stores


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Sqlite:
    """Sizes of a file, by its own account."""

    def __init__(self, url):
        self.path = url.partition(":")[2]

    def measure(self):
        """{name: (bytes, rows)} of tables and indexes."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)) as db:
            tables = dict(db.execute("SELECT name, tbl_name FROM sqlite_schema WHERE rootpage > 0"))
            sizes = dict(db.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = 1"))
            rows = {table: db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in set(tables.values())}
        found = {name: (size, rows[tables[name]]) for name, size in sizes.items() if name in tables}
        found["(the file)"] = (os.path.getsize(self.path), sum(rows.values()))
        return found


    def count(self, tables):
        """Bytes of the file, and {table: rows}; unlike measure() it does not read everything."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)) as db:
            return os.path.getsize(self.path), {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


class Postgres:
    SQL = """SELECT c.relname, pg_relation_size(c.oid), t.relname
               FROM pg_class AS c
               LEFT JOIN pg_index AS x ON x.indexrelid = c.oid
               JOIN pg_class AS t ON t.oid = coalesce(x.indrelid, c.oid)
              WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind IN ('r', 'i')"""

    def __init__(self, url):
        self.url = url

    def ask(self, sql):
        return [line.split("|") for line in Stores.ask(self.url, sql).splitlines()]

    def measure(self):
        listed = self.ask(self.SQL)
        tables = sorted({table for _, _, table in listed})
        counts = self.ask(" UNION ALL ".join(f"SELECT '{t}', count(*) FROM workflow.{t}" for t in tables))
        rows = {table: int(count) for table, count in counts}
        found = {name: (int(size), rows[table]) for name, size, table in listed}
        size = int(self.ask("SELECT pg_database_size(current_database())")[0][0])
        found["(the database)"] = (size, sum(rows.values()))
        return found

    def count(self, tables):
        counts = " || '|' || ".join(f"(SELECT count(*) FROM workflow.{table})" for table in tables)
        size, *rows = self.ask(f"SELECT pg_database_size(current_database()) || '|' || {counts}")[0]
        return int(size), dict(zip(tables, map(int, rows)))


class Server:
    """cairn serve, and what it says."""

    def __init__(self, build, url, folder):
        self.port = free_port()
        self.log = os.path.join(folder, "server.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(build, "src/cli/cairn"), "serve", "--url", url, "--listen", f"127.0.0.1:{self.port}",
                 "--log-format", "json"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS:"))

    def end(self):
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "no answer to SIGTERM"

    def complaints(self):
        """Errors, and how often it warned of what."""
        errors, warnings = [], collections.Counter()
        with open(self.log, encoding="utf-8", errors="replace") as log:
            for line in log:
                try:
                    said = json.loads(line)
                except ValueError:
                    said = {"level": "error"}
                if said.get("level") == "error":
                    errors.append(line.strip()[:300])
                elif said.get("level") == "warning":
                    warnings[said.get("event")] += 1
        return errors, dict(warnings)


def sizes_of(kind, url):
    return {"sqlite": Sqlite, "postgres": Postgres}[kind](url)


def whole(sizes):
    """Bytes of the file or the database."""
    return next(size for name, (size, _) in sizes.items() if name.startswith("("))
