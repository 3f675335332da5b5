# SPDX-License-Identifier: Apache-2.0
"""How each database driver executes a statement.

A driver is recognised by the module of its class.  Nothing is imported: what the connection belongs
to is loaded already.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Sequence, Tuple

Rows = Sequence[Sequence[Any]]
_NAME = re.compile(r":(\w+)")


@dataclass(frozen=True)
class Statement:
    """SQL with parameters as ``:name``; colons are used for nothing else."""

    sql: str
    given: Dict[str, Any]
    has_rows: bool


@functools.lru_cache(maxsize=256)
def _pyformat(sql: str) -> str:
    return _NAME.sub(r"%(\1)s", sql)


@functools.lru_cache(maxsize=256)
def _dollars(sql: str) -> Tuple[str, List[str]]:
    names: List[str] = []

    def number(match: "re.Match[str]") -> str:
        if match.group(1) not in names:
            names.append(match.group(1))
        return f"${names.index(match.group(1)) + 1}"

    return _NAME.sub(number, sql), names


class Driver:
    """One connection of the caller's."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @property
    def dialect(self) -> str:
        return "postgresql"

    def execute(self, statement: Statement) -> Rows:
        raise NotImplementedError

    async def execute_async(self, statement: Statement) -> Rows:
        raise NotImplementedError


class Psycopg(Driver):
    """psycopg 3, connections and cursors, also their asyncio twins."""

    def _cursor(self) -> Any:
        connection = getattr(self.connection, "connection", self.connection)  # of a cursor
        return connection.cursor(row_factory=sys.modules["psycopg.rows"].tuple_row)

    def execute(self, statement: Statement) -> Rows:
        with self._cursor() as cursor:
            cursor.execute(_pyformat(statement.sql), statement.given)
            rows: Rows = cursor.fetchall() if statement.has_rows else []
            return rows

    async def execute_async(self, statement: Statement) -> Rows:
        async with self._cursor() as cursor:
            await cursor.execute(_pyformat(statement.sql), statement.given)
            rows: Rows = await cursor.fetchall() if statement.has_rows else []
            return rows


class Psycopg2(Driver):
    def execute(self, statement: Statement) -> Rows:
        connection = getattr(self.connection, "connection", self.connection)
        with connection.cursor(cursor_factory=sys.modules["psycopg2.extensions"].cursor) as cursor:
            cursor.execute(_pyformat(statement.sql), statement.given)
            rows: Rows = cursor.fetchall() if statement.has_rows else []
            return rows


class SQLite3(Driver):
    @property
    def dialect(self) -> str:
        return "sqlite"

    def execute(self, statement: Statement) -> Rows:
        cursor = getattr(self.connection, "connection", self.connection).cursor()
        cursor.row_factory = None
        try:
            cursor.execute(statement.sql, statement.given)
            rows: Rows = cursor.fetchall() if statement.has_rows else []
            return rows
        finally:
            cursor.close()


class Django(Driver):
    """``django.db.connection``, or ``connections[alias]``."""

    @property
    def dialect(self) -> str:
        return _known_dialect(self.connection.vendor)

    def execute(self, statement: Statement) -> Rows:
        with self.connection.cursor() as cursor:
            cursor.execute(_pyformat(statement.sql), statement.given or None)
            rows: Rows = cursor.fetchall() if statement.has_rows else []
            return rows


class SQLAlchemy(Driver):
    """A ``Connection`` of SQLAlchemy 1.4 or 2."""

    def _open(self) -> Any:
        return self.connection

    @property
    def dialect(self) -> str:
        return _known_dialect(self._open().dialect.name)

    def execute(self, statement: Statement) -> Rows:
        result = self._open().execute(sys.modules["sqlalchemy"].text(statement.sql), statement.given)
        rows: Rows = result.fetchall() if statement.has_rows else []
        return rows


class SQLAlchemySession(SQLAlchemy):
    """A ``Session``: nothing is flushed."""

    def _open(self) -> Any:
        return self.connection.connection()


class SQLAlchemyAsync(Driver):
    """An ``AsyncConnection`` or ``AsyncSession``."""

    @property
    def dialect(self) -> str:
        bind = getattr(self.connection, "sync_session", None)
        found = bind.get_bind() if bind is not None else self.connection
        return _known_dialect(found.dialect.name)

    async def execute_async(self, statement: Statement) -> Rows:
        connection = self.connection
        if hasattr(connection, "sync_session"):
            connection = await connection.connection()
        result = await connection.execute(sys.modules["sqlalchemy"].text(statement.sql), statement.given)
        rows: Rows = result.fetchall() if statement.has_rows else []
        return rows


class Asyncpg(Driver):
    async def execute_async(self, statement: Statement) -> Rows:
        sql, names = _dollars(statement.sql)
        rows: Rows = await self.connection.fetch(sql, *(statement.given[name] for name in names))
        return rows


def _known_dialect(name: str) -> str:
    if name not in ("postgresql", "sqlite"):
        raise TypeError(f"a store of Cairn is in PostgreSQL or SQLite, not in {name}")
    return name


Maker = Callable[[Any], Driver]

# The beginning of the module's name, and of the class's, -> what it is and whether it is for asyncio.
_KNOWN: List[Tuple[str, Tuple[str, ...], Maker, bool]] = [
    ("psycopg.", ("AsyncConnection", "AsyncCursor"), Psycopg, True),
    ("psycopg.", ("Connection", "Cursor"), Psycopg, False),
    ("psycopg2.", ("connection", "cursor"), Psycopg2, False),
    ("sqlite3.", ("Connection", "Cursor"), SQLite3, False),
    ("sqlalchemy.ext.asyncio.", ("AsyncConnection", "AsyncSession", "async_scoped_session"), SQLAlchemyAsync, True),
    ("sqlalchemy.orm.", ("Session", "scoped_session"), SQLAlchemySession, False),
    ("sqlalchemy.engine.", ("Connection",), SQLAlchemy, False),
    ("django.utils.connection.", ("ConnectionProxy",), Django, False),
    ("django.db.", ("BaseDatabaseWrapper", "DefaultConnectionProxy"), Django, False),
    ("asyncpg.", ("Connection", "PoolConnectionProxy"), Asyncpg, True),
]


def find(connection: Any, is_async: bool) -> Driver:
    """The driver of a connection; TypeError if it is none that is known."""
    ours = "cairn.aio.tx()" if is_async else "cairn.tx()"
    for cls in type(connection).__mro__:
        module = cls.__module__ + "."
        for prefix, names, maker, needs_async in _KNOWN:
            if module.startswith(prefix) and cls.__name__ in names:
                if needs_async != is_async:
                    other = "cairn.aio.tx()" if needs_async else "cairn.tx()"
                    raise TypeError(f"{ours} cannot use a connection of {_full_name(connection)}: use {other}")
                return maker(connection)
    raise TypeError(f"{ours} does not know connections of {_full_name(connection)}")


def _full_name(connection: Any) -> str:
    return f"{type(connection).__module__}.{type(connection).__qualname__}"
