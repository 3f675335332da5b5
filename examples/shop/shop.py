# SPDX-License-Identifier: Apache-2.0
"""A small shop: an order and its workflow are written in one transaction, so there is never one without the other.

    SHOP_URL=postgres://localhost/shop flask --app shop run
    curl -d item=book -d amount=20 http://127.0.0.1:5000/orders
"""
import os
from pathlib import Path

import cairn
import psycopg
from flask import Flask, abort, request

URL = os.environ["SHOP_URL"]
HERE = Path(__file__).parent
app = Flask(__name__)


def prepare() -> None:
    """Makes the tables of both, and deploys the workflow.  Doing it again changes nothing."""
    with psycopg.connect(URL) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(22476)")       # several processes may start at once
        connection.execute((HERE / "schema.sql").read_text())
    with cairn.open(URL) as db:
        db.deploy_file(HERE / "order.yaml")


@app.post("/orders")
def place_order():
    item, amount = request.form["item"], int(request.form["amount"])
    with psycopg.connect(URL) as connection:                            # one transaction: it commits at the end, or not at all
        order = connection.execute("SELECT nextval(pg_get_serial_sequence('orders', 'id'))").fetchone()[0]
        started = cairn.tx(connection).start(
            "shop.order", {"order": order, "item": item, "amount": amount}, key=f"order-{order}")
        connection.execute("INSERT INTO orders (id, item, amount, instance) OVERRIDING SYSTEM VALUE VALUES (%s, %s, %s, %s)",
                           (order, item, amount, started.id))
    return {"order": order, "instance": started.id}, 201


def instance_of(db: cairn.Engine, order: int) -> "cairn.InstanceHandle":
    with psycopg.connect(URL) as connection:
        found = connection.execute("SELECT instance FROM orders WHERE id = %s", (order,)).fetchone()
    if not found:
        abort(404)
    return db.instance(str(found[0]))


@app.get("/orders/<int:order>")
def show_order(order: int):
    with cairn.open(URL) as db:
        row = instance_of(db, order).get()
        return {"order": order, "status": row.status, "waits_for": list(row.current_steps), "error": row.error}


@app.post("/orders/<int:order>/approve")
def approve_order(order: int):
    with cairn.open(URL) as db:
        try:
            instance_of(db, order).confirm("approval", by=request.form["by"])
        except cairn.WrongState as error:
            return {"error": str(error)}, 409
    return {"order": order}


prepare()
