#!/usr/bin/env python3
# tests/sdk/test_shop.py - the shop of examples/, killed at random.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_shop.py CAIRN [--go WORKER]

Orders are placed and approved while the web service, its workers (Python, and Go if --go names the
program) and the database are killed again and again.  At the end every order must have its workflow,
every workflow must have ended, and every charge must have a shipment or a refund, but not both.

Run it with a Python that has cairn, flask and psycopg, and with CAIRN_LIBRARY set.  The output is TAP.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SHOP = os.path.join(HERE, "..", "..", "examples", "shop")
sys.path.insert(0, os.path.join(HERE, "..", "kill"))
import scene as stage       # pylint: disable=wrong-import-position

ORDERS = int(os.environ.get("CAIRN_SHOP_ORDERS", "600" if stage.IS_LONG else "120"))
KILLS = int(os.environ.get("CAIRN_SHOP_KILLS", "60" if stage.IS_LONG else "14"))
ITEMS = ("book", "lamp", "piano", "boat")
AMOUNTS = {"book": 20, "lamp": 60, "piano": 90, "boat": 9000}


class Customer(threading.Thread):
    """Places orders, approves large ones, and does not give up."""

    def __init__(self, url, chance):
        super().__init__(daemon=True)
        self.url, self.chance, self.placed, self.refused = url, chance, 0, None

    def post(self, path, **form):
        """The answer, or None if there was none: whether it was done is then unknown."""
        request = urllib.request.Request(self.url + path, urllib.parse.urlencode(form).encode())
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return {"error": error.read(300).decode(errors="replace")} if error.code < 500 else None
        except (OSError, ValueError):
            return None

    def run(self):
        while self.placed < ORDERS:
            item = self.chance.choice(ITEMS)
            answer = self.post("/orders", item=item, amount=AMOUNTS[item])
            if answer is None:
                time.sleep(0.05)
                continue
            if "order" not in answer:
                self.refused = answer
                return
            self.placed += 1


class Shop:
    """The database, the web service and the workers."""

    def __init__(self, folder, options):
        self.store = stage.Postgres(folder)
        self.port = stage.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        os.environ["SHOP_URL"] = self.store.url
        python = [sys.executable, "-B"]
        commands = {"web": [*python, "-m", "flask", "--app", os.path.join(SHOP, "shop.py"), "run", "--port", str(self.port)],
                    "python-1": [*python, os.path.join(SHOP, "worker.py")],
                    "python-2": [*python, os.path.join(SHOP, "worker.py")]}
        if options.go:
            commands.update({"go-1": [options.go], "go-2": [options.go]})
        self.processes = {name: stage.Process(name, command, folder) for name, command in commands.items()}

    def start(self):
        for process in self.processes.values():
            process.start()

    def revive(self):
        """A worker that found no database, or no table yet, ends: its supervisor starts it again."""
        for process in self.processes.values():
            if process.popen.poll() is not None:
                process.start()

    def kill(self, chance):
        name = chance.choice([*self.processes, "database"])
        stage.say(f"kill {name}")
        if name == "database":
            self.store.restart()
        else:
            self.processes[name].kill()
        self.revive()

    def number(self, sql):
        try:
            return int(self.store.ask(sql)[0][0])
        except (RuntimeError, IndexError):
            return -1

    def stop(self):
        for process in self.processes.values():
            if process.popen and process.popen.poll() is None:
                process.popen.send_signal(signal.SIGKILL)
                process.popen.wait()
        self.store.stop()


ENDED = "SELECT count(*) FROM orders o JOIN workflow.workflow_instance i ON i.id = o.instance " \
        "WHERE i.status IN ('completed', 'failed')"


def approve_all(shop, customer):
    """A person who confirms what waits for a decision."""
    waiting = "SELECT o.id FROM orders o JOIN workflow.workflow_instance i ON i.id = o.instance " \
              "JOIN workflow.workflow_step s ON s.instance_id = i.id " \
              "WHERE s.name = 'approval' AND s.status = 'waiting_decision' LIMIT 20"
    try:
        rows = shop.store.ask(waiting)
    except RuntimeError:
        return
    for (order,) in rows:
        customer.post(f"/orders/{order}/approve", by="ann")


def live(shop, customer, chance):
    """Until every order has ended; the kills come as the orders do."""
    kills, last, best = 0, time.monotonic(), -1
    while True:
        shop.revive()
        approve_all(shop, customer)
        ended = shop.number(ENDED)
        if ended > best:
            best, last = ended, time.monotonic()
        if not customer.is_alive() and ended >= shop.number("SELECT count(*) FROM orders") > 0:
            return
        if time.monotonic() - last > stage.STUCK_SECONDS:
            raise TimeoutError(f"only {best} orders have ended")
        if kills < KILLS and customer.placed >= (kills + 1) * ORDERS // (KILLS + 1):
            shop.kill(chance)
            kills += 1
        time.sleep(0.05)


def check(shop, checks):
    def none(sql, what):
        found = shop.number(f"SELECT count(*) FROM {sql}")
        checks.check(what, found == 0, found)
    none("orders o WHERE NOT EXISTS (SELECT FROM workflow.workflow_instance i WHERE i.id = o.instance)",
         "no_order_is_without_its_workflow")
    none("workflow.workflow_instance i WHERE NOT EXISTS (SELECT FROM orders o WHERE o.instance = i.id)",
         "no_workflow_is_without_its_order")
    none("charges c WHERE NOT c.refunded AND NOT EXISTS (SELECT FROM shipments s WHERE s.order_id = c.order_id)",
         "no_charge_is_without_shipment_or_refund")
    none("charges c WHERE c.refunded AND EXISTS (SELECT FROM shipments s WHERE s.order_id = c.order_id)",
         "nothing_was_shipped_and_refunded")
    none("(SELECT order_id FROM charges GROUP BY 1 HAVING count(*) > 1) AS twice", "nothing_was_charged_twice")
    none("(SELECT order_id FROM shipments GROUP BY 1 HAVING count(*) > 1) AS twice", "nothing_was_shipped_twice")
    none("orders o JOIN workflow.workflow_instance i ON i.id = o.instance "
         "WHERE (i.status = 'failed') <> (o.item = 'piano')", "what_failed_is_what_is_too_heavy")
    none("workflow.workflow_intake", "nothing_is_left_to_be_started")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cairn")
    parser.add_argument("--go", help="the worker in Go")
    options = parser.parse_args()
    seed = stage.seed()
    chance = random.Random(seed)
    checks = stage.Checks()
    stage.end_when_told()
    stage.say(f"seed {seed}; CAIRN_KILL_SEED repeats it")
    print("1..9", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder, options)
        customer = Customer(shop.url, chance)
        try:
            shop.start()
            customer.start()
            live(shop, customer, random.Random(seed + 1))
            checks.check("no_order_was_refused", customer.refused is None, customer.refused)
            check(shop, checks)
        finally:
            if not (checks.is_good and checks.number):
                for process in shop.processes.values():
                    stage.Scene.show_log(process)
            shop.stop()
    return 0 if checks.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
