#!/usr/bin/env python3
"""Executes a scenario with plain HTTP: no SDK, nothing but requests and answers.

    run_http.py SCENARIO.json http://127.0.0.1:22476

README.md beside this file says what a scenario is.
"""
import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta

WORKER = "parity"
ABLE = {"outbox", "transaction"}

# The statements of docs/guides/sql.md.
POSTGRES = {
    "enqueue": """
        INSERT INTO workflow.workflow_run (id, type, payload, idempotency_key, run_at)
        VALUES (:'id', :'type', :'payload', :'key', :'at')
        ON CONFLICT (idempotency_key) DO NOTHING;
        SELECT id FROM workflow.workflow_run WHERE idempotency_key = :'key';""",
    "start": "SELECT workflow.start({arguments});"}
SQLITE = {
    "enqueue": """
        INSERT INTO workflow_run (id, type, payload, idempotency_key, run_at, is_ready)
        VALUES (:id, :type, :payload, :key, :at, :at <= :now)
        ON CONFLICT (idempotency_key) DO NOTHING RETURNING id""",
    "event": "INSERT INTO workflow_event (workflow_id, event_type, data) VALUES (:id, 'created', '{}')",
    "find enqueue": "SELECT id FROM workflow_run WHERE idempotency_key = :key",
    "start": """
        INSERT INTO workflow_intake (id, workflow, input, key, start_at)
        VALUES (:id, :workflow, :input, :key, :at) ON CONFLICT DO NOTHING RETURNING id""",
    "find start": """
        SELECT id FROM workflow_instance WHERE workflow = :workflow AND key = :key
         UNION ALL SELECT id FROM workflow_intake WHERE workflow = :workflow AND key = :key"""}


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, answer):
        super().__init__(f"{answer.get('code')}: {answer.get('message')}")
        self.code = answer.get("code")


class Story:
    def __init__(self, scenario, url):
        self.scenario, self.url = scenario, url
        self.names, self.kinds = {}, {}
        self.calls = {}
        self.start = datetime.fromisoformat(self.ask("GET", "/v1/clock")["now"].replace("Z", "+00:00"))

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise Refused(json.loads(error.read())) from None

    def time(self, spec):
        """The fields of a job or a start, with times such as "+1000" made absolute."""
        spec = dict(spec)
        for field in ("run_at", "start_at"):
            if str(spec.get(field, "")).startswith("+"):
                at = self.start + timedelta(milliseconds=int(spec[field][1:]))
                spec[field] = at.isoformat().replace("+00:00", "Z")
        return spec

    # ---- actions

    def path(self, name):
        return f"/v1/{self.kinds[name]}/{self.names[name]}"

    def keep(self, action, kind, answer):
        if "as" in action:
            self.names[action["as"]], self.kinds[action["as"]] = answer["id"], kind
        return answer

    def do_enqueue(self, action):
        return self.keep(action, "jobs", self.ask("POST", "/v1/jobs", self.time(action["enqueue"])))

    def do_job(self, action):
        self.keep(action, "jobs", {"id": action["job"]})
        return {}

    def do_instance(self, action):
        self.keep(action, "instances", {"id": action["instance"]})
        return {}

    def do_enqueue_many(self, action):
        return self.ask("POST", "/v1/jobs", {"jobs": [self.time(spec) for spec in action["enqueue_many"]]})

    def do_deploy(self, action):
        return self.ask("POST", "/v1/workflows", action["deploy"])

    def do_start(self, action):
        return self.keep(action, "instances", self.ask("POST", "/v1/instances", self.time(action["start"])))

    def do_advance_ms(self, action):
        return self.ask("POST", "/v1/clock/advance", {"ms": action["advance_ms"]})

    def do_signal(self, action):
        body = {field: action[field] for field in ("event", "payload", "id", "latch") if field in action}
        return self.ask("POST", self.path(action["signal"]) + "/signal", body)

    def do_decide(self, action):
        body = {field: action[field] for field in ("decision", "by", "comment") if field in action}
        step = urllib.parse.quote(action["step"])
        return self.ask("POST", f"{self.path(action['decide'])}/steps/{step}/decision", body)

    def do_requeue(self, action):
        instance = self.names[action["requeue"]]
        record = next(r for r in self.ask("GET", "/v1/dlq")["items"] if r["instance_id"] == instance)
        body = {"input": action["input"]} if "input" in action else None
        return self.ask("POST", f"/v1/dlq/{record['id']}/requeue", body)

    def do_result(self, action):
        name = action["result"]
        row = self.ask("GET", self.path(name))
        if row["status"] in ("failed", "cancelled", "aborted"):
            raise Refused({"code": row["status"], "message": row["last_error"]})
        result = row["result" if self.kinds[name] == "jobs" else "output"]
        if row["status"] not in ("succeeded", "completed") or result != action["is"]:
            raise AssertionError(f"{name} is {row['status']} with {result!r}")
        return row

    def do_control(self, verb, action):
        body = {field: action[field] for field in ("by", "reason") if field in action}
        if verb == "delete":
            return self.ask("DELETE", self.path(action[verb]))
        return self.ask("POST", f"{self.path(action[verb])}/{verb}", body or None)

    # ---- transactions, in plain SQL

    def values(self, fields):
        at = self.time(fields).get("run_at", fields.get("start_at"))
        return {"id": str(uuid.uuid4()), **{name: fields[name] for name in ("type", "workflow", "key") if name in fields},
                **{name: json.dumps(fields[name]) for name in ("payload", "input") if name in fields}, "at": at}

    def do_transaction(self, action):
        store = os.environ["PARITY_STORE"]
        actions = [(next(iter(one)), one, self.values(self.time(one[next(iter(one))]))) for one in action["transaction"]]
        transact = self.on_sqlite if store.startswith("sqlite:") else self.on_postgres
        for (verb, one, values), found in zip(actions, transact(store, action["end"], actions)):
            if found is None:
                if one.get("error") != "not_found":
                    raise AssertionError(f"{verb} was refused")
            elif (found != values["id"]) != one["gives"]["existing"]:
                raise AssertionError(f"{verb} found {found}")
            elif "as" in one:
                self.keep(one, "jobs" if verb == "enqueue" else "instances", {"id": found})
        return {}

    @staticmethod
    def on_postgres(store, end, actions):
        script = "CREATE TABLE IF NOT EXISTS parity_order (n integer);\nBEGIN;\nINSERT INTO parity_order VALUES (1);\n"
        for verb, _, values in actions:
            given = {name: value for name, value in values.items() if value is not None}
            arguments = ", ".join(f"{'start_at' if name == 'at' else name} => :'{name}'" for name in given)
            script += "".join(f"\\set {name} '{value}'\n" for name, value in given.items())
            script += POSTGRES[verb].format(arguments=arguments) + "\n"
        done = subprocess.run(["psql", "-XAqt", "-v", "VERBOSITY=verbose", "-d", store], input=f"{script}{end};\n",
                              text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        found = done.stdout.split()
        if len(found) < len(actions) and "23503" not in done.stderr:    # the SQLSTATE of an unknown workflow
            raise AssertionError(done.stderr)
        return [found[i] if i < len(found) else None for i in range(len(actions))]

    @staticmethod
    def on_sqlite(store, end, actions):
        connection = sqlite3.connect(store[len("sqlite:"):], isolation_level=None, timeout=30)
        connection.execute("CREATE TABLE IF NOT EXISTS parity_order (n integer)")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO parity_order VALUES (1)")
        found = []
        for verb, _, values in actions:
            at = datetime.fromisoformat(values["at"].replace("Z", "+00:00")) if values["at"] else None
            given = {"key": None, "input": "{}", **values, "now": time.time_ns() // 1000,
                     "at": at and round(at.timestamp() * 1e6)}
            try:
                rows = connection.execute(SQLITE[verb], given).fetchall()
            except sqlite3.DatabaseError as error:
                if "the workflow, or this version of it, does not exist" not in str(error):
                    raise
                found.append(None)
                continue
            if rows and verb == "enqueue":
                connection.execute(SQLITE["event"], given)
            found.append((rows or connection.execute(SQLITE["find " + verb], given).fetchall())[0][0])
        connection.execute(end)
        connection.close()
        return found

    # ---- working

    def find_call(self, task):
        """What this call of the task does, by how often it was called before."""
        handlers = self.scenario.get("handlers", {})
        script = handlers.get(task["type"]) or handlers.get("%")
        number = self.calls[task["id"], task["kind"]] = self.calls.get((task["id"], task["kind"]), 0) + 1
        return script[min(number, len(script)) - 1]

    def report(self, task, call):
        body = {"worker": WORKER, "token": task["token"]}
        if task["metadata"] != call.get("metadata", task["metadata"]):
            call = {"dead": "other metadata"}
        if "emit" in call:
            body["outbound"] = call["emit"]
        if "complete" in call or "echo" in call:
            outcome, body["output"] = "complete", task["input"] if "echo" in call else call["complete"]
        elif "release_ms" in call:
            outcome, body["delay_ms"] = "release", call["release_ms"]
        elif "wait" in call:
            outcome, body["event"] = "wait", call["wait"]
            if "timeout_ms" in call:
                body["timeout_ms"] = call["timeout_ms"]
        else:
            outcome = next(word for word in ("fail", "dead", "retry") if word in call)
            body["error"] = call[outcome]
            if "after_ms" in call:
                body["delay_ms"] = call["after_ms"]
        self.ask("POST", f"/v1/tasks/{task['id']}/{outcome}", body)

    def do_work(self, action):
        done, types = 0, list(self.scenario.get("handlers", {}))
        while True:
            tasks = self.ask("POST", "/v1/tasks/claim", {"worker": WORKER, "types": types, "max": 1})["tasks"]
            if not tasks:
                break
            self.report(tasks[0], self.find_call(tasks[0]))
            done += 1
        if done != action["work"]:
            raise AssertionError(f"{done} tasks were executed, not {action['work']}")
        return {}

    def act(self, action):
        verb = next(iter(action))
        method = getattr(self, "do_" + verb, None)
        try:
            answer = method(action) if method else self.do_control(verb, action)
        except Refused as refused:
            if refused.code != action.get("error"):
                raise
            return
        if "error" in action:
            raise AssertionError(f"it was not refused with {action['error']}")
        for field, value in action.get("gives", {}).items():
            if answer[field] != value:
                raise AssertionError(f"{field} is {answer[field]!r}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        scenario = json.load(file)
    missing = set(scenario.get("needs", [])) - ABLE
    if missing:
        print("skipped: needs " + ", ".join(sorted(missing)))
        return 0
    story = Story(scenario, sys.argv[2].rstrip("/"))
    for number, action in enumerate(scenario["do"], 1):
        try:
            story.act(action)
        except (Refused, AssertionError) as error:
            print(f"action {number}, {json.dumps(action)}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
