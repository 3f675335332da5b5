# SPDX-License-Identifier: Apache-2.0
"""Each driver in the same few words: open, execute, commit, roll back.  For test_tx.py."""

from __future__ import annotations

import sqlite3
from typing import Any, Callable, Dict
from urllib.parse import urlsplit


class Driver:
    """`given` is what goes to cairn.tx(); `again` opens another connection of the same kind."""

    again: "Callable[[], Driver]"

    def __init__(self, given: Any, execute: Callable[[str], Any], commit: Callable[[], Any],
                 rollback: Callable[[], Any], close: Callable[[], Any]) -> None:
        self.given, self.execute, self.commit, self.rollback, self.close = given, execute, commit, rollback, close


def psycopg3(url: str) -> Driver:
    import psycopg

    connection = psycopg.connect(url)
    return Driver(connection, connection.execute, connection.commit, connection.rollback, connection.close)


def psycopg3_dicts(url: str) -> Driver:
    import psycopg
    import psycopg.rows

    connection = psycopg.connect(url, row_factory=psycopg.rows.dict_row)
    return Driver(connection, connection.execute, connection.commit, connection.rollback, connection.close)


def psycopg3_cursor(url: str) -> Driver:
    import psycopg

    connection = psycopg.connect(url)
    return Driver(connection.cursor(), connection.execute, connection.commit, connection.rollback, connection.close)


def psycopg2(url: str) -> Driver:
    import psycopg2

    connection = psycopg2.connect(url)
    return Driver(connection, lambda sql: connection.cursor().execute(sql), connection.commit, connection.rollback,
                  connection.close)


def psycopg2_dict_cursor(url: str) -> Driver:
    import psycopg2
    import psycopg2.extras

    connection = psycopg2.connect(url, cursor_factory=psycopg2.extras.RealDictCursor)
    cursor = connection.cursor()
    return Driver(cursor, cursor.execute, connection.commit, connection.rollback, connection.close)


def sqlalchemy_url(url: str, driver: str) -> str:
    if url.startswith("sqlite:"):
        return f"sqlite+{driver}:///" + url[len("sqlite:"):]
    return f"postgresql+{driver}://" + url.split("://", 1)[1]


def sqlalchemy_connection(driver: str) -> Callable[[str], Driver]:
    def make(url: str) -> Driver:
        import sqlalchemy

        engine = sqlalchemy.create_engine(sqlalchemy_url(url, driver))
        connection = engine.connect()
        transaction = [connection.begin()]

        def close() -> None:
            connection.close()
            engine.dispose()

        return Driver(connection, lambda sql: connection.execute(sqlalchemy.text(sql)), lambda: transaction[0].commit(),
                      lambda: transaction[0].rollback(), close)

    return make


def sqlalchemy_session(driver: str) -> Callable[[str], Driver]:
    def make(url: str) -> Driver:
        import sqlalchemy
        import sqlalchemy.orm

        engine = sqlalchemy.create_engine(sqlalchemy_url(url, driver))
        session = sqlalchemy.orm.Session(engine)

        def close() -> None:
            session.close()
            engine.dispose()

        return Driver(session, lambda sql: session.execute(sqlalchemy.text(sql)), session.commit, session.rollback, close)

    return make


def django_connection(url: str) -> Driver:
    import django
    from django.conf import settings
    from django.db.utils import ConnectionHandler

    if not settings.configured:
        settings.configure(USE_TZ=True)
        django.setup()
    if url.startswith("sqlite:"):
        database: Dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": url[len("sqlite:"):]}
    else:
        parts = urlsplit(url)
        database = {"ENGINE": "django.db.backends.postgresql", "NAME": parts.path[1:], "USER": parts.username,
                    "PASSWORD": parts.password, "HOST": parts.hostname, "PORT": str(parts.port)}
    connection = ConnectionHandler({"default": database})["default"]
    connection.set_autocommit(False)
    return Driver(connection, lambda sql: connection.cursor().execute(sql), connection.commit, connection.rollback,
                  connection.close)


def sqlite_file(url: str) -> Driver:
    connection = sqlite3.connect(url[len("sqlite:"):])
    return Driver(connection, connection.execute, connection.commit, connection.rollback, connection.close)


def sqlite_dicts(url: str) -> Driver:
    connection = sqlite3.connect(url[len("sqlite:"):])
    connection.row_factory = lambda cursor, row: {"no": "tuple"}
    return Driver(connection, connection.execute, connection.commit, connection.rollback, connection.close)


POSTGRES = {
    "psycopg": psycopg3, "psycopg-dicts": psycopg3_dicts, "psycopg-cursor": psycopg3_cursor, "psycopg2": psycopg2,
    "psycopg2-dict-cursor": psycopg2_dict_cursor, "sqlalchemy-psycopg": sqlalchemy_connection("psycopg"),
    "sqlalchemy-psycopg2": sqlalchemy_connection("psycopg2"), "sqlalchemy-session": sqlalchemy_session("psycopg2"),
    "django": django_connection}
SQLITE = {
    "sqlite3": sqlite_file, "sqlite3-dicts": sqlite_dicts, "sqlalchemy": sqlalchemy_connection("pysqlite"),
    "sqlalchemy-session": sqlalchemy_session("pysqlite"), "django": django_connection}


# ---- asyncio --------------------------------------------------------------------------------------


async def psycopg_async(url: str) -> Driver:
    import psycopg

    connection = await psycopg.AsyncConnection.connect(url)
    return Driver(connection, connection.execute, connection.commit, connection.rollback, connection.close)


async def asyncpg(url: str) -> Driver:
    import asyncpg

    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    return Driver(connection, connection.execute, transaction.commit, transaction.rollback, connection.close)


def sqlalchemy_async_connection(driver: str) -> Any:
    async def make(url: str) -> Driver:
        import sqlalchemy
        import sqlalchemy.ext.asyncio

        engine = sqlalchemy.ext.asyncio.create_async_engine(sqlalchemy_url(url, driver))
        connection = await engine.connect()
        await connection.begin()

        async def close() -> None:
            await connection.close()
            await engine.dispose()

        return Driver(connection, lambda sql: connection.execute(sqlalchemy.text(sql)), connection.commit,
                      connection.rollback, close)

    return make


def sqlalchemy_async_session(driver: str) -> Any:
    async def make(url: str) -> Driver:
        import sqlalchemy
        import sqlalchemy.ext.asyncio

        engine = sqlalchemy.ext.asyncio.create_async_engine(sqlalchemy_url(url, driver))
        session = sqlalchemy.ext.asyncio.AsyncSession(engine)

        async def close() -> None:
            await session.close()
            await engine.dispose()

        return Driver(session, lambda sql: session.execute(sqlalchemy.text(sql)), session.commit, session.rollback, close)

    return make


ASYNC = {
    "psycopg": psycopg_async, "asyncpg": asyncpg, "sqlalchemy-asyncpg": sqlalchemy_async_connection("asyncpg"),
    "sqlalchemy-psycopg": sqlalchemy_async_connection("psycopg_async"),
    "sqlalchemy-session": sqlalchemy_async_session("asyncpg")}
