# SPDX-License-Identifier: Apache-2.0
"""Jobs in the caller's own transaction, with every driver."""

import asyncio
import inspect
import os
import sqlite3
import subprocess
import sys
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, Iterator, List, Tuple

import pytest

import cairn
import cairn.aio
from cairn import _sqlites
from tx_drivers import ASYNC, POSTGRES, SQLITE, Driver

LATER = datetime(2100, 1, 1, 12, 0, 0, 123000, timezone.utc)
BOTH = [("postgres", name) for name in POSTGRES] + [("sqlite", name) for name in SQLITE]


@pytest.fixture(params=BOTH, ids="-".join)
def shop(request: pytest.FixtureRequest) -> Iterator[Tuple[str, Driver]]:
    """A store with a table of ours, and a connection of each driver to it."""
    kind, name = request.param
    url = request.getfixturevalue(kind + "_url")
    cairn.open(url).close()
    make = (POSTGRES if kind == "postgres" else SQLITE)[name]
    drivers = [make(url)]
    drivers[0].execute("CREATE TABLE orders (id INTEGER)")
    drivers[0].commit()
    drivers[0].close()

    def again() -> Driver:
        drivers.append(make(url))
        drivers[-1].again = again
        return drivers[-1]

    try:
        yield url, again()
    finally:
        drivers[-1].close()


def jobs_of(url: str) -> List[cairn.Job]:
    with cairn.open(url) as db:
        return list(db.jobs())[::-1]


def test_commit_records_both(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    driver.execute("INSERT INTO orders VALUES (17)")
    made = cairn.tx(driver.given).enqueue("billing.invoice.v1", {"order": 17, "é": [None, 1.5]}, key="invoice-17",
                                          priority=7, max_attempts=9)
    driver.commit()
    driver.close()
    app, seen = cairn.App(), []

    @app.task("billing.invoice.v1")
    def invoice(task: cairn.Task, payload: Dict[str, Any]) -> None:
        seen.append(payload)

    with cairn.open(url) as db:
        job = db.job(made.id).get()
        assert (job.type, job.idempotency_key, job.priority, job.max_attempts, job.status) == (
            "billing.invoice.v1", "invoice-17", 7, 9, "pending")
        assert [event.type for event in db.job(made.id).events()] == ["created"]
        assert db.enqueue("billing.invoice.v1", key="invoice-17").id == made.id
        assert db.work(app, until_idle=True) == 1
    assert not made.existing and seen == [{"order": 17, "é": [None, 1.5]}]


def test_rollback_records_neither(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    driver.execute("INSERT INTO orders VALUES (18)")
    cairn.tx(driver.given).enqueue("billing.invoice.v1", {"order": 18})
    driver.rollback()
    driver.close()
    assert jobs_of(url) == []


def test_a_known_key_writes_nothing(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    tx = cairn.tx(driver.given)
    first = tx.enqueue("a.v1", 1, key="k")
    second = tx.enqueue("a.v1", 2, key="k")
    assert (first.existing, second.existing, second.id) == (False, True, first.id)
    driver.commit()
    driver.close()
    (job,) = jobs_of(url)
    assert job.payload == 1
    with cairn.open(url) as db:
        assert [event.type for event in db.job(job.id).events()] == ["created"]


def test_later(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    made = cairn.tx(driver.given).enqueue("a.v1", at=LATER)
    soon = cairn.tx(driver.given).enqueue("a.v1", at="2001-01-01T00:00:00Z")
    driver.commit()
    driver.close()
    app = cairn.App()
    app.task("%")(lambda: None)
    with cairn.open(url) as db:
        assert db.job(made.id).get().run_at == LATER
        db.work(app, until_idle=True)
        assert (db.job(made.id).status(), db.job(soon.id).status()) == ("pending", "succeeded")


def test_many(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    specs = [cairn.JobSpec("a.v1", n, key=f"k{n % 3}", delay="1h") for n in range(4)]
    made = cairn.tx(driver.given).enqueue_many(specs)
    driver.commit()
    driver.close()
    assert [one.existing for one in made] == [False, False, False, True] and made[3].id == made[0].id
    jobs = jobs_of(url)
    assert [job.payload for job in jobs] == [0, 1, 2]
    for job in jobs:
        assert job.run_at and timedelta(minutes=59) < job.run_at - datetime.now(timezone.utc) < timedelta(minutes=61)


def test_the_row_is_that_of_the_engine(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    made = cairn.tx(driver.given).enqueue("a.v1", {"b": None}, key="tx", at=LATER)
    driver.commit()
    driver.close()
    with cairn.open(url) as db:
        own = db.enqueue("a.v1", {"b": None}, key="engine", at=LATER)
        rows = [asdict(db.job(one.id).get()) for one in (made, own)]
        events = [[(event.type, event.data) for event in db.job(one.id).events()] for one in (made, own)]
    for row in rows:
        for name in ("id", "idempotency_key", "created_at", "updated_at", "why"):
            assert row.pop(name)
    assert rows[0] == rows[1] and events[0] == events[1]


def test_metadata_goes_with_it(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    made = cairn.tx(driver.given).enqueue_many([cairn.JobSpec("a.v1", metadata={"tenant": "é"})])
    driver.commit()
    driver.close()
    with cairn.open(url) as db:
        assert db.job(made[0].id).get().metadata == {"tenant": "é"}


# ---- the options are those of the engine


ENGINE_ONLY = ("on_existing", "debounce")


@pytest.mark.parametrize("name", ["enqueue", "start"])
@pytest.mark.parametrize("kind", [cairn.Tx, cairn.aio.AsyncTx])
def test_a_transaction_takes_the_options_of_the_engine(kind: Any, name: str) -> None:
    def options(method: Any) -> Dict[str, Any]:
        given = inspect.signature(method).parameters
        return {one.name: (one.kind, one.default) for one in given.values() if one.name not in ENGINE_ONLY}

    assert options(getattr(kind, name)) == options(getattr(cairn.Engine, name))


@pytest.mark.parametrize("option", ENGINE_ONLY)
def test_what_needs_the_engine_is_refused(option: str) -> None:
    connection = sqlite3.connect(":memory:")
    tx: Any = cairn.tx(connection)
    for call in (tx.enqueue, tx.start):
        with pytest.raises(TypeError, match=f"{option} is not for a transaction of your own: it needs the engine"):
            call("a", **{option: "return"})
    connection.close()


JOB_OPTIONS: Dict[str, Any] = {
    "key": "k", "priority": 7, "max_attempts": 9, "at": LATER, "delay": "1h", "timeout": "5m", "group": "ann",
    "retry": cairn.Backoff("linear", "2s", "1h", 0.5), "tags": {"customer": "é"}, "metadata": {"tenant": [1]}}
START_OPTIONS: Dict[str, Any] = {"version": 2, "key": "k", "at": LATER, "delay": "1h", "group": "ann",
                                 "tags": {"customer": "é"}, "metadata": {"tenant": [1]}}


def comparable(row: Any) -> Dict[str, Any]:
    """Without what differs between any two rows; a delay is told by the hour."""
    found = {name: value for name, value in asdict(row).items()
             if name not in ("id", "key", "idempotency_key", "created_at", "updated_at", "why", "started_at")}
    for name in ("run_at", "start_at"):
        if found.get(name) not in (None, LATER):
            found[name] = round((found[name] - datetime.now(timezone.utc)) / timedelta(hours=1))
    return found


def test_each_option_of_a_job_is_in_its_row(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    assert set(JOB_OPTIONS) == set(inspect.signature(cairn.Tx.enqueue).parameters) - {"self", "task", "payload"}
    tx = cairn.tx(driver.given)
    made = {name: tx.enqueue("a.v1", **{name: value}) for name, value in JOB_OPTIONS.items()}
    driver.commit()
    driver.close()
    with cairn.open(url) as db:
        assert db.job(made["key"].id).get().idempotency_key == "k"
        plain = comparable(db.enqueue("a.v1").get())
        for name, value in JOB_OPTIONS.items():
            row = comparable(db.job(made[name].id).get())
            options = {} if name == "key" else {name: value}
            assert row == comparable(db.enqueue("a.v1", **options).get()), name
            assert (row != plain) == bool(options), name


def test_each_option_of_a_start_is_in_its_row(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    assert set(START_OPTIONS) == set(inspect.signature(cairn.Tx.start).parameters) - {"self", "workflow", "input"}
    driver.close()
    with cairn.open(url) as db:
        for version in (1, 2, 3):
            db.deploy(f"{{workflow: order, version: {version}, steps: [{{step: ship}}]}}")
    driver = driver.again()
    tx = cairn.tx(driver.given)
    made = {name: tx.start("order", **{name: value}) for name, value in START_OPTIONS.items()}
    driver.commit()
    driver.close()
    with cairn.open(url) as db:
        assert db.instance(made["key"].id).get().key == "k"
        plain = comparable(db.start("order").get())
        for name, value in START_OPTIONS.items():
            options = {} if name == "key" else {name: value}
            row = comparable(db.instance(made[name].id).get())
            assert row == comparable(db.start("order", **options).get()), name
            assert (row != plain) == bool(options), name


# ---- functions


def test_a_function_is_deployed_with_the_transaction_that_starts_it(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    app = cairn.App()

    @app.function('buy "é"<&>\u2028', version=2, dlq=True, max_attempts=5)
    def buy(ctx: cairn.Context, n: int) -> int:
        return n + 1

    @app.function("usual")
    def usual(ctx: cairn.Context) -> None: ...

    other = cairn.FunctionType(buy.name, print, version=2)
    cairn.tx(driver.given).start(usual)
    driver.rollback()
    driver.close()
    driver = driver.again()
    tx = cairn.tx(driver.given)
    made = [tx.start(buy, 1), tx.start(buy, 2, version=2), tx.start(usual)]
    driver.commit()
    driver.close()
    refused: List[Tuple[type, Callable[[cairn.Tx], Any]]] = [
        (cairn.Misuse, lambda tx: tx.start(other)), (cairn.NotFound, lambda tx: tx.start(buy, 1, version=7)),
        (cairn.BadInput, lambda tx: tx.start(cairn.FunctionType("x~2", print)))]
    for error, call in refused:
        driver = driver.again()
        with pytest.raises(error):
            call(cairn.tx(driver.given))
        driver.rollback()
        driver.close()
    with cairn.open(url) as db, db.worker(app):     # a worker deploys them too: they are the same
        assert [db.instance(one.id).result(timeout=30) for one in made] == [2, 3, None]
        with pytest.raises(cairn.Conflict):
            db.deploy_function(other)


def test_a_role_that_may_not_write_definitions(postgres_url: str) -> None:
    function = cairn.FunctionType("buy", print)
    with cairn.open(postgres_url) as db:
        db.deploy_function(function)
    role = "shop_" + postgres_url.rsplit("/", 1)[1]
    driver = POSTGRES["psycopg"](postgres_url)
    driver.execute(f"CREATE ROLE {role}")
    driver.execute(f"GRANT USAGE ON SCHEMA workflow TO {role}")
    driver.execute(f"GRANT INSERT, SELECT ON workflow.workflow_intake TO {role}")
    driver.execute(f"GRANT SELECT (id, workflow, key) ON workflow.workflow_instance TO {role}")
    driver.execute(f"SET LOCAL ROLE {role}")
    made = cairn.tx(driver.given).start(function)
    driver.rollback()        # of the role, too
    driver.close()
    assert str(made) == made.id and not made.existing


ORDER = "{workflow: order, version: 1, steps: [{step: ship}]}"


def test_start_in_the_transaction(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    driver.close()
    with cairn.open(url) as db:
        db.deploy(ORDER)
        known = db.start("order", key="known")
    driver = driver.again()
    tx = cairn.tx(driver.given)
    first = tx.start("order", {"n": 1}, key="order-1")
    second = tx.start("order", {"n": 2}, key="order-1")
    third = tx.start("order", version=1)
    old = tx.start("order", key="known")
    later = tx.start("order", at=LATER, group="ann")
    driver.commit()
    driver.close()
    assert (first.existing, second.existing, second.id) == (False, True, first.id)
    assert (third.existing, old.existing, old.id) == (False, True, known.id)
    app, seen = cairn.App(), []

    @app.task("ship")
    def ship(task: cairn.Task, order: Dict[str, Any]) -> Dict[str, Any]:
        seen.append(order)
        return order

    with cairn.open(url) as db:
        with db.worker(app):
            assert db.instance(first.id).result(timeout=30) == {"n": 1}
            assert db.instance(third.id).result(timeout=30) == {}
        assert db.instance(later.id).get().status == "pending"
        assert db.instance(later.id).get().start_at == LATER
        assert (db.instance(later.id).get().group, db.instance(third.id).get().group) == ("ann", "")
    assert {"n": 2} not in seen


def test_a_start_that_is_rolled_back(shop: Tuple[str, Driver]) -> None:
    url, driver = shop
    driver.close()
    with cairn.open(url) as db:
        db.deploy(ORDER)
    driver = driver.again()
    gone = cairn.tx(driver.given).start("order")
    driver.rollback()
    driver.close()
    with cairn.open(url) as db, pytest.raises(cairn.NotFound):
        db.instance(gone.id).get()


def test_an_unknown_workflow(shop: Tuple[str, Driver]) -> None:
    _, driver = shop
    with pytest.raises(cairn.NotFound, match='workflow "nothing", version 3, does not exist'):
        cairn.tx(driver.given).start("nothing", version=3)
    driver.rollback()


@pytest.mark.parametrize("call, error", [
    (lambda tx: tx.enqueue(""), cairn.BadInput), (lambda tx: tx.enqueue("x" * 257), cairn.TooLarge),
    (lambda tx: tx.enqueue("a", key=""), cairn.BadInput), (lambda tx: tx.enqueue("a", "x" * (1 << 20)), cairn.TooLarge),
    (lambda tx: tx.enqueue("a", "a\0b"), cairn.BadInput), (lambda tx: tx.enqueue("a", priority=1 << 31), cairn.BadInput),
    (lambda tx: tx.enqueue("a", max_attempts=0), cairn.BadInput), (lambda tx: tx.enqueue("a", object()), cairn.BadPayload),
    (lambda tx: tx.enqueue("a", at="soon"), ValueError), (lambda tx: tx.enqueue("a", at=datetime(2030, 1, 1)), ValueError)])
def test_what_the_engine_would_refuse(call: Callable[[cairn.Tx], Any], error: type, sqlite_url: str) -> None:
    cairn.open(sqlite_url).close()
    connection = sqlite3.connect(sqlite_url[len("sqlite:"):])
    with pytest.raises(error):
        call(cairn.tx(connection))
    assert not connection.in_transaction
    connection.close()


def test_the_largest_payload(sqlite_url: str) -> None:
    cairn.open(sqlite_url).close()
    connection = sqlite3.connect(sqlite_url[len("sqlite:"):])
    text = "x" * ((1 << 20) - 2)
    with connection:
        cairn.tx(connection).enqueue("a.v1", text)
        cairn.tx(connection).enqueue("a.v1", "\\u0000")      # a backslash, and no NUL
    connection.close()
    assert [job.payload for job in jobs_of(sqlite_url)] == [text, "\\u0000"]


def test_missing_tables(tmp_path: Any) -> None:
    connection = sqlite3.connect(tmp_path / "shop.db")
    with pytest.raises(cairn.SchemaOlder, match="open the store once"):
        cairn.tx(connection).enqueue("a.v1")
    connection.close()


def test_tables_that_are_too_new(sqlite_url: str) -> None:
    cairn.open(sqlite_url).close()
    connection = sqlite3.connect(sqlite_url[len("sqlite:"):])
    connection.execute("UPDATE workflow_migration SET oldest = 1")
    cairn.tx(connection).enqueue("a.v1")
    connection.execute("UPDATE workflow_migration SET oldest = 1000")
    with pytest.raises(cairn.SchemaNewer):
        cairn.tx(connection).enqueue("a.v1")
    connection.rollback()
    connection.close()


def test_another_schema_of_postgres(postgres_url: str) -> None:
    cairn.open(postgres_url).close()
    driver = POSTGRES["psycopg"](postgres_url)
    driver.execute('CREATE SCHEMA "odd ""name"')
    driver.execute('CREATE TABLE "odd ""name".workflow_run (LIKE workflow.workflow_run INCLUDING ALL)')
    made = cairn.tx(driver.given, schema='odd "name').enqueue("a.v1")
    assert [str(row[0]) for row in driver.execute('SELECT id FROM "odd ""name".workflow_run')] == [made.id]
    driver.rollback()
    driver.close()


def test_others_do_not_see_it_before_the_commit(sqlite_url: str) -> None:
    cairn.open(sqlite_url).close()
    connection, other = (sqlite3.connect(sqlite_url[len("sqlite:"):]) for _ in range(2))
    cairn.tx(connection).enqueue("a.v1")
    assert connection.in_transaction
    assert other.execute("SELECT count(*) FROM workflow_run").fetchone() == (0,)
    connection.commit()
    assert other.execute("SELECT count(*) FROM workflow_run").fetchone() == (1,)
    connection.close()
    other.close()


def test_a_worker_that_waits_is_told(postgres_url: str) -> None:
    """The trigger notifies at the commit; no poll is awaited."""
    app = cairn.App()
    app.task("%")(lambda: "done")
    with cairn.open(postgres_url) as db, db.worker(app):
        driver = POSTGRES["psycopg"](postgres_url)
        made = cairn.tx(driver.given).enqueue("a.v1")
        driver.commit()
        driver.close()
        assert db.job(made.id).result(timeout=10) == "done"


@pytest.mark.parametrize("given", [None, "sqlite:x.db", object(), {}])
def test_unknown_connections(given: Any) -> None:
    with pytest.raises(TypeError, match="does not know"):
        cairn.tx(given)


def test_tx_loads_no_library() -> None:
    code = ("import sqlite3, cairn, cairn._library as library\n"
            "connection = sqlite3.connect(':memory:')\n"
            "try: cairn.tx(connection).enqueue('a.v1')\n"
            "except cairn.SchemaOlder: print(library._loaded)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr


# ---- two SQLites ----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_shared", [True, False])
def test_two_copies_of_sqlite_are_refused(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, is_shared: bool) -> None:
    monkeypatch.setattr(_sqlites, "is_shared", lambda: is_shared)
    path = sqlite_url[len("sqlite:"):]
    connection = sqlite3.connect(path)
    with cairn.open(sqlite_url):
        if is_shared:
            cairn.tx(connection).enqueue("a.v1")
            connection.rollback()
        else:
            with pytest.raises(cairn.Misuse, match="another copy of SQLite"):
                cairn.tx(connection).enqueue("a.v1")
            os.symlink(path, path + ".link")
            other = sqlite3.connect(path + ".link")
            with pytest.raises(cairn.Misuse):          # the same file under another name
                cairn.tx(other).enqueue("a.v1")
            other.close()
    cairn.tx(connection).enqueue("a.v1")               # the engine is closed
    connection.rollback()
    connection.close()


def test_another_file_is_no_matter(sqlite_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlites, "is_shared", lambda: False)
    other = f"sqlite:{tmp_path}/other.db"
    cairn.open(other).close()
    connection = sqlite3.connect(other[len("sqlite:"):])
    with cairn.open(sqlite_url):
        cairn.tx(connection).enqueue("a.v1")
    connection.rollback()
    connection.close()


def test_which_sqlite_libcairn_uses() -> None:
    """Debian's Python and a libcairn that was built beside it share libsqlite3.so.0."""
    with open("/proc/self/maps") as maps:
        mapped = {line.split()[-1] for line in maps if "libsqlite3" in line}
    assert _sqlites.is_shared() == (len(mapped) == 1)


# ---- asyncio --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASYNC)
def test_async_drivers(name: str, postgres_url: str) -> None:
    with cairn.open(postgres_url) as db:
        db.deploy(ORDER)

    async def main() -> Tuple[Any, Any, List[Any]]:
        driver = await ASYNC[name](postgres_url)
        tx = cairn.aio.tx(driver.given)
        first = await tx.enqueue("a.v1", {"n": 1}, key="k", at=LATER)
        second = await tx.enqueue("a.v1", {"n": 2}, key="k")
        many = await tx.enqueue_many([cairn.JobSpec("b.v1", n) for n in range(2)])
        started = await tx.start("order", {"n": 1}, key="o")
        await tx.start(cairn.FunctionType("buy", print), delay="1h", tags={"a": "b"})
        with pytest.raises(TypeError, match="needs the engine"):
            await tx.enqueue("a.v1", debounce="1s")  # type: ignore[call-arg]
        assert (await tx.start("order", {"n": 2}, key="o")) == cairn.TxId(started.id, existing=True)
        await driver.commit()
        await driver.close()

        driver = await ASYNC[name](postgres_url)
        await cairn.aio.tx(driver.given).enqueue("gone.v1")
        with pytest.raises(cairn.NotFound):
            await cairn.aio.tx(driver.given).start("nothing")
        await driver.rollback()
        await driver.close()
        return first, second, many

    first, second, many = asyncio.run(main())
    assert (first.existing, second.existing, second.id) == (False, True, first.id)
    jobs = jobs_of(postgres_url)
    assert [(job.id, job.type, job.payload) for job in jobs] == [
        (first.id, "a.v1", {"n": 1}), (many[0].id, "b.v1", 0), (many[1].id, "b.v1", 1)]
    assert jobs[0].run_at == LATER


def test_sync_and_async_are_told_apart(postgres_url: str) -> None:
    async def main() -> None:
        driver = await ASYNC["psycopg"](postgres_url)
        with pytest.raises(TypeError, match=r"use cairn.aio.tx\(\)"):
            cairn.tx(driver.given)
        await driver.close()

    asyncio.run(main())
    connection = sqlite3.connect(":memory:")
    with pytest.raises(TypeError, match=r"use cairn.tx\(\)"):
        cairn.aio.tx(connection)
    connection.close()
