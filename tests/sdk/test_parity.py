#!/usr/bin/env python3
# tests/sdk/test_parity.py - the same scenarios in every language, and the same rows at the end.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_parity.py CAIRN [--runner NAME=COMMAND]... [--store sqlite|postgres|http]... [--write] [NAME...]

CAIRN is the program.  README.md beside this file describes scenarios and runners.  Without --runner
only plain HTTP runs.  The output is TAP.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCH = datetime(2030, 1, 1, tzinfo=timezone.utc)       # where a runner's own clock starts
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
FOLDERS = ("scenarios", "passage")
LONG = 1000         # characters; longer texts are not kept in rows/
SERVED = {"http", "go-http"}        # runners that need a server, whatever the store
MAY_SKIP = {"http"}                 # runners without the functions of an SDK
WITHOUT_TX = {"c", "go-http"}       # runners without transactions of their own


class Server:
    """`cairn serve` on a store, with a virtual clock."""

    def __init__(self, cairn, store):
        self.popen = subprocess.Popen(
            [cairn, "serve", "--url", store, "--listen", "127.0.0.1:0", "--virtual-clock"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.url, said = None, ""
        while not self.url:
            line = self.popen.stdout.readline()
            said += line
            if not line:
                raise RuntimeError(f"cairn serve said {said!r}")
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            self.url = found.group() if found else None

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.loads(answer.read())

    def list(self, path):
        """All items of a paged list."""
        items, cursor = [], None
        while True:
            query = {"limit": "1000", **({"cursor": cursor} if cursor else {})}
            page = self.get(f"{path}?{urllib.parse.urlencode(query)}")
            items += page["items"]
            cursor = page.get("next")
            if not cursor:
                return items

    def now(self):
        return datetime.fromisoformat(self.get("/v1/clock")["now"].replace("Z", "+00:00"))

    def stop(self):
        self.popen.terminate()
        self.popen.stdout.close()
        self.popen.wait()


class Stores:
    """A fresh store for each run."""

    def __init__(self, folder):
        self.folder, self.made = folder, []

    def make(self, kind):
        name = f"parity_{uuid.uuid4().hex[:12]}"
        if kind != "postgres":
            return f"sqlite:{os.path.join(self.folder, name)}.db"
        server = os.environ["CAIRN_TEST_POSTGRES"]
        template = os.environ.get("CAIRN_TEST_TEMPLATE")
        self.sql(server, f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        self.made.append(name)
        return f"{server.rpartition('/')[0]}/{name}"

    @staticmethod
    def sql(server, statement):
        subprocess.run(["psql", "-Xq", "-d", server, "-c", statement], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def done(self):
        for name in self.made:
            self.sql(os.environ["CAIRN_TEST_POSTGRES"], f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def expand(value):
    """A scenario in which {"text_of_bytes": N} stands for a string whose JSON has N bytes."""
    if isinstance(value, dict):
        if value.keys() == {"text_of_bytes"}:
            return "x" * (value["text_of_bytes"] - 2)
        return {name: expand(inner) for name, inner in value.items()}
    return [expand(inner) for inner in value] if isinstance(value, list) else value


# ---- the rows

def read_rows(server):
    """Everything that a scenario has left in the store, oldest first."""
    jobs = server.list("/v1/jobs")[::-1]
    for job in jobs:
        job["events"] = server.list(f"/v1/jobs/{job['id']}/events")
    instances = server.list("/v1/instances")[::-1]
    for instance in instances:
        path = f"/v1/instances/{instance['id']}"
        for part in ("steps", "events", "logs", "decisions"):
            instance[part] = server.list(f"{path}/{part}")
    return {"jobs": jobs, "instances": instances, "dlq": server.list("/v1/dlq")[::-1],
            "workflows": server.list("/v1/workflows")}


def as_plain(rows, start, ignored=()):
    """The rows without what differs from run to run: ids are numbered, times count from the start.

    Members that the scenario ignores are left out."""
    ids = {}

    def plain_text(text):
        if TIME.match(text):
            at = datetime.fromisoformat(text.replace("Z", "+00:00"))
            return f"+{round((at - start).total_seconds() * 1000)}"
        if len(text) > LONG:
            return f"{text[:8]}... {len(text)} characters"
        return UUID.sub(lambda found: ids.setdefault(found.group(), f"id{len(ids) + 1}"), text)

    def plain(value, key=None):
        if isinstance(value, dict):
            # The group of an error follows from its text, in which languages differ (is_same_error).
            return {name: plain(inner, name) for name, inner in value.items()
                    if name not in ignored and name != "error_group" and not (name == "id" and key == "event")}
        if isinstance(value, list):
            return [plain(inner, "event" if key == "events" else None) for inner in value]
        if isinstance(value, str):
            return plain_text(value)
        return value

    return plain(rows)


def differences(expected, found, where=""):
    """The places at which two trees differ, as texts."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted(expected.keys() | found.keys()):
            yield from differences(expected.get(name), found.get(name), f"{where}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (left, right) in enumerate(zip(expected, found)):
            yield from differences(left, right, f"{where}[{index}]")
    elif expected != found and not is_same_error(where, expected, found):
        yield f"{where}: {json.dumps(expected)} expected, {json.dumps(found)} found"


def is_same_error(where, expected, found):
    """A language may put the name of the error's type before its text."""
    return (where.endswith(("error", ".message")) and isinstance(expected, str)
            and isinstance(found, str) and found.endswith(": " + expected))


# ---- running

def read_scenario(name):
    with open(os.path.join(HERE, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def is_for(name, runner, kind):
    """A transaction needs the database itself, not a server."""
    is_tx = "transaction" in read_scenario(name).get("needs", [])
    return not (is_tx and (runner in WITHOUT_TX or kind == "http"))


def run_once(options, stores, name, runner, command, kind):
    """None, or what went wrong."""
    store = stores.make("sqlite" if kind == "http" else kind)
    scenario = os.path.join(stores.folder, os.path.basename(name) + ".json")
    told = expand(read_scenario(name))
    with open(scenario, "w", encoding="utf-8") as file:
        json.dump(told, file)
    server = Server(options.cairn, store) if kind == "http" or runner in SERVED else None
    start = server.now() if server else EPOCH
    try:
        done = subprocess.run([*command, scenario, server.url if server else store], check=False,
                              env={**os.environ, "PARITY_STORE": store}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        said = done.stdout.strip()
        if done.returncode:
            return said or f"status {done.returncode}"
        if said.startswith("skipped"):
            return said
        server = server or Server(options.cairn, store)
        return compare(options, name, as_plain(read_rows(server), start, told.get("ignores", ())))
    except subprocess.TimeoutExpired as expired:
        return f"it did not end in 120 s: {(expired.stdout or b'').decode(errors='replace')}"
    finally:
        if server:
            server.stop()


def compare(options, name, rows):
    path = os.path.join(HERE, "rows", name.replace("scenarios/", "") + ".json")
    if options.write:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1, ensure_ascii=False, sort_keys=True)
            file.write("\n")
        return None
    with open(path, encoding="utf-8") as file:
        different = list(differences(json.load(file), rows))
    return "\n".join(different[:8]) or None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cairn")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runner", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--store", action="append", default=[], choices=["sqlite", "postgres", "http"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_intermixed_args()
    every = sorted(f"{folder}/{file[:-5]}" for folder in FOLDERS for file in os.listdir(os.path.join(HERE, folder)))
    names = [name for name in every if not options.names or name.partition("/")[2] in options.names or name in options.names]
    runners = dict(given.split("=", 1) for given in options.runner) or \
        {"http": shlex.join([sys.executable, os.path.join(HERE, "run_http.py")])}
    kinds = options.store or ["sqlite", "postgres", "http"]
    runs = [(name, runner, kind) for name in names for runner in runners for kind in kinds
            if not (runner in SERVED and kind == "http") and is_for(name, runner, kind)]
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores(folder)
        try:
            for name, runner, kind in runs:
                wrong = run_once(options, stores, name, runner, shlex.split(runners[runner]), kind)
                if wrong and wrong.startswith("skipped") and runner in MAY_SKIP:
                    print(f"# {name}, {runner} on {kind}: {wrong}", flush=True)
                    continue
                number += 1
                failed += bool(wrong)
                print(f"{'not ok' if wrong else 'ok'} {number} - {name}, {runner} on {kind}", flush=True)
                if wrong:
                    print("\n".join("# " + line for line in wrong.splitlines()), flush=True)
        finally:
            stores.done()
    print(f"1..{number}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
