# SPDX-License-Identifier: Apache-2.0
"""Does the shop's work.  Start as many as you like, beside those in Go (worker.go), and kill any of them.

    SHOP_URL=postgres://localhost/shop python worker.py
"""
import os

import cairn
from psycopg_pool import ConnectionPool

URL = os.environ["SHOP_URL"]
app = cairn.App()


@app.lifespan
def database():
    """Connections for the handlers, `task.state`; one that the database has closed is replaced."""
    with ConnectionPool(URL, kwargs={"autocommit": True}, check=ConnectionPool.check_connection) as pool:
        yield pool


def once(task: cairn.Task, statement: str, *values: object) -> None:
    """Executes a statement that has no second effect: a call may be repeated after a crash."""
    with task.state.connection() as connection:
        connection.execute(statement, values)


@app.task("shop.reserve.v1")
def reserve(task: cairn.Task, order: dict) -> dict:
    once(task, "INSERT INTO reservations (key, order_id) VALUES (%s, %s) ON CONFLICT DO NOTHING", task.key, order["order"])
    return order


@app.task("shop.release.v1")
def release(task: cairn.Task, undo: cairn.Undo[dict, dict]) -> None:
    once(task, "UPDATE reservations SET released = true WHERE order_id = %s", undo.input["order"])


@app.task("shop.charge.v1")
def charge(task: cairn.Task, order: dict) -> dict:
    once(task, "INSERT INTO charges (key, order_id, amount) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
         task.key, order["order"], order["amount"])
    return order


@app.task("shop.refund.v1")
def refund(task: cairn.Task, undo: cairn.Undo[dict, dict]) -> None:
    once(task, "UPDATE charges SET refunded = true WHERE order_id = %s", undo.input["order"])


class TooHeavy(Exception):
    """No carrier takes it, however often it is asked."""


@app.task("shop.ship.v1", dead_on=(TooHeavy,))
def ship(task: cairn.Task, order: dict) -> dict:
    if order["item"] == "piano":
        raise TooHeavy("a piano does not fit into a parcel")
    once(task, "INSERT INTO shipments (key, order_id) VALUES (%s, %s) ON CONFLICT DO NOTHING", task.key, order["order"])
    return {"order": order["order"], "shipped": True}


if __name__ == "__main__":
    with cairn.open(URL) as db:
        db.work(app, concurrency=8, lease="5s")
