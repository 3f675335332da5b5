#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes a scenario of tests/sdk with this SDK: ``run_scenario.py SCENARIO.json URL``.

tests/sdk/README.md says what a scenario is.
"""
import json
import sqlite3
import sys
from datetime import timedelta

import cairn

ABLE = {"functions", "outbox", "children", "gather", "transaction"}
MS = timedelta(milliseconds=1)


class Wrong(Exception):
    """What was found is not what is expected."""


def open_store(url):
    clock = {} if url.startswith("http") else {"virtual_clock": True, "start": "2030-01-01T00:00:00Z"}
    return cairn.open(url, **clock)


def connect(url):
    """A connection of a driver, for tx."""
    if url.startswith("sqlite:"):
        return sqlite3.connect(url[len("sqlite:"):])
    import psycopg
    return psycopg.connect(url)


class Story:
    def __init__(self, scenario, url):
        self.scenario, self.url = scenario, url
        self.db = db = open_store(url)
        self.named, self.calls = {}, {}
        self.start = db.now()
        self.app = cairn.App()
        for type, script in scenario.get("handlers", {}).items():
            self.app.task(type)(self.make_handler(script))
        self.functions = {name: self.make_function(name, spec)
                          for name, spec in scenario.get("functions", {}).items()}
        for name, spec in scenario.get("functions", {}).items():
            db.deploy(json.dumps({"function": name, "version": spec["version"]}))

    # ---- handlers and functions

    def next_call(self, script, key):
        """What this call does, by how often it was called before."""
        number = self.calls[key] = self.calls.get(key, 0) + 1
        return script[min(number, len(script)) - 1]

    def make_handler(self, script):
        def handle(task: cairn.Task, payload):
            call = self.next_call(script, (task.kind, task.id))
            for event in call.get("emit", []):
                task.emit(event["event"], event["payload"])
            if task.metadata != call.get("metadata", task.metadata):
                raise cairn.Dead("other metadata")
            return execute(call, payload)
        return handle

    def make_function(self, name, spec):
        def run(ctx: cairn.Context, input):
            value = None
            for statement in self.scenario["functions"][name]["do"]:
                value = self.do_statement(ctx, statement)
            return value
        return self.app.function(name, version=spec["version"], commit=spec.get("commit", "step"))(run)

    def step_code(self, ctx, statement):
        def run(*_input):
            return execute(self.next_call(statement["calls"], (ctx.instance_id, statement["step"])), None)
        return run

    def step_args(self, ctx, statement):
        args = [statement["input"]] if "input" in statement else []
        options = {"retries": statement["retries"]} if "retries" in statement else {}
        if "compensation" in statement:
            options["compensation"] = compensation(statement["compensation"])
        return (statement["step"], self.step_code(ctx, statement), *args), options

    def do_statement(self, ctx, statement):
        verb = next(iter(statement))
        what = statement[verb]
        if verb == "try":
            try:
                return self.do_statement(ctx, what)
            except (cairn.StepFailed, cairn.TimedOut) as error:
                return error.code
        if verb == "step":
            args, options = self.step_args(ctx, statement)
            return ctx.step(*args, **options)
        if verb == "gather":
            calls = [self.step_args(ctx, one) for one in what]
            return list(ctx.gather(*(cairn.step(*args, **options) for args, options in calls)))
        if verb == "sleep":
            return ctx.sleep(statement["ms"] * MS, step=what)
        if verb == "wait_event":
            timeout = statement["timeout_ms"] * MS if "timeout_ms" in statement else None
            return ctx.wait_event(what, timeout=timeout)
        if verb == "enqueue":
            return ctx.enqueue(what["type"], what.get("payload", {}))
        if verb == "start":
            return ctx.start(what["workflow"], what.get("input", {}))
        if verb == "call":
            return ctx.call(what["workflow"], what.get("input", {}))
        if verb == "log":
            return ctx.log.info(what)
        if verb == "uuid":
            return str(ctx.uuid())
        if verb == "value":
            return what
        raise RuntimeError(what)

    # ---- actions

    def at(self, fields, name):
        return self.start + int(fields[name][1:]) * MS if name in fields else None

    def job_spec(self, fields):
        options = {name: fields[name] for name in ("key", "priority", "max_attempts") if name in fields}
        if "payload" in fields:
            options["payload"] = fields["payload"]
        return cairn.JobSpec(fields["type"], at=self.at(fields, "run_at"), **options)

    def do_enqueue(self, action):
        fields = action["enqueue"]
        options = {name: fields[name] for name in ("key", "priority", "max_attempts", "payload") if name in fields}
        return self.db.enqueue(fields["type"], at=self.at(fields, "run_at"), **options)

    def do_job(self, action):
        return self.db.job(action["job"])

    def do_instance(self, action):
        return self.db.instance(action["instance"])

    def do_enqueue_many(self, action):
        return self.db.enqueue_many([self.job_spec(fields) for fields in action["enqueue_many"]])

    def do_start(self, action):
        fields = action["start"]
        options = {name: fields[name] for name in ("version", "key", "input") if name in fields}
        return self.db.start(fields["workflow"], at=self.at(fields, "start_at"), **options)

    def do_transaction(self, action):
        """The engine is closed meanwhile: two copies of SQLite must not open one file."""
        self.db.close()
        connection = connect(self.url)
        try:
            made = self.transact(connection, action)
        finally:
            connection.close()
        self.db = open_store(self.url)
        for name, handle in self.named.items():
            made[name] = ("job" if isinstance(handle, cairn.JobHandle) else "instance", handle.id)
        self.named = {name: getattr(self.db, kind)(id) for name, (kind, id) in made.items()}

    def transact(self, connection, action):
        tx, made = cairn.tx(connection), {}
        connection.execute("CREATE TABLE IF NOT EXISTS parity_order (n integer)")
        connection.execute("INSERT INTO parity_order VALUES (1)")
        for one in action["transaction"]:
            verb = next(iter(one))
            fields = one[verb]
            at = self.at(fields, "run_at" if verb == "enqueue" else "start_at")
            try:
                if verb == "enqueue":
                    answer = tx.enqueue(fields["type"], fields["payload"], key=fields.get("key"), at=at)
                else:
                    answer = tx.start(fields["workflow"], fields.get("input", {}), key=fields.get("key"), at=at)
            except cairn.CairnError as error:
                if error.code != one.get("error"):
                    raise
                continue
            if answer.existing != one["gives"]["existing"]:
                raise Wrong(f"existing is {answer.existing}")
            if "as" in one:
                made[one["as"]] = ("job" if verb == "enqueue" else "instance", answer.id)
        getattr(connection, action["end"])()
        return made

    def do_deploy(self, action):
        file = action["deploy"]
        workflow = cairn.Workflow(file["workflow"], version=file["version"], dlq=file.get("dlq", False))
        if "input" in file:
            workflow.input(**file["input"])
        build(workflow, file["steps"])
        return self.db.deploy(workflow)

    def do_work(self, action):
        done = self.db.work(self.app, until_idle=True, name="parity", concurrency=1) \
            if self.scenario.get("handlers") or self.functions else 0
        if done != action["work"]:
            raise Wrong(f"{done} tasks were executed")

    def do_advance_ms(self, action):
        status, answer = self.db.call("POST", "/v1/clock/advance", {"ms": action["advance_ms"]})
        if status != 200:
            raise Wrong(str(answer))

    def do_signal(self, action):
        options = {"id": action["id"]} if "id" in action else {}
        if "latch" in action:
            options["latch"] = action["latch"] != "off"
        return self.named[action["signal"]].signal(action["event"], action.get("payload"), **options)

    def do_decide(self, action):
        handle = self.named[action["decide"]]
        decide = handle.confirm if action["decision"] == "confirmed" else handle.reject
        return decide(action["step"], by=action["by"], comment=action.get("comment", ""))

    def do_requeue(self, action):
        instance = self.named[action["requeue"]].id
        record = next(record for record in self.db.dlq() if record.instance_id == instance)
        options = {"input": action["input"]} if "input" in action else {}
        return self.db.requeue(record, **options)

    def do_result(self, action):
        try:
            result = self.named[action["result"]].result(timeout=60)
        except cairn.Ended as ended:
            status = type(ended).__name__.replace("Job", "").replace("Instance", "").lower()
            if status != action.get("error"):
                raise Wrong(f"it is {status}") from None
            return
        if "error" in action or result != action["is"]:
            raise Wrong(f"it ended with {result!r}")

    def do_code(self, action):
        self.scenario["functions"].update(action["code"])

    def do_control(self, verb, action):
        who = {name: action[name] for name in ("by", "reason", "force") if name in action}
        return getattr(self.named[action[verb]], verb)(**who)

    def act(self, action):
        verb = next(iter(action))
        method = getattr(self, "do_" + verb, None)
        expected = None if verb == "result" else action.get("error")
        try:
            answer = method(action) if method else self.do_control(verb, action)
        except cairn.CairnError as error:
            if error.code != expected:
                raise Wrong(f"{error.code}: {error}") from None
            return
        if expected:
            raise Wrong(f"it was not refused with {expected}")
        if "as" in action:
            self.named[action["as"]] = answer
        for field, value in action.get("gives", {}).items():
            if getattr(answer, field) != value:
                raise Wrong(f"{field} is {getattr(answer, field)!r}")


def execute(call, payload):
    """Does what a call is told to do."""
    if "complete" in call:
        return call["complete"]
    if "echo" in call:
        return payload
    if "dead" in call:
        raise cairn.Dead(call["dead"])
    if "retry" in call:
        raise cairn.Retry(call["retry"], after=call["after_ms"] * MS if "after_ms" in call else None)
    if "release_ms" in call:
        raise cairn.Release(after=call["release_ms"] * MS)
    if "wait" in call:
        raise cairn.WaitFor(call["wait"], timeout=call["timeout_ms"] * MS if "timeout_ms" in call else None)
    raise RuntimeError(call["fail"])


def backoff(retry):
    return cairn.Backoff(retry["backoff"], retry.get("base", "1s"), retry.get("max"), retry.get("jitter", 0.0))


def compensation(spec):
    """A task type, or an object as in workflow files."""
    if isinstance(spec, str):
        return spec
    return cairn.Compensation(**{**spec, **({"retry": backoff(spec["retry"])} if "retry" in spec else {})})


def build(workflow, elements):
    """Elements of a workflow file, made with the builder."""
    for element in elements:
        options = dict(element)
        kind = next(iter(element))
        name = options.pop(kind)
        if kind == "step":
            if "retry" in options:
                options["retry"] = backoff(options["retry"])
            if "compensation" in options:
                options["compensation"] = compensation(options["compensation"])
            workflow.step(name, options.pop("handler", None), **options)
        elif kind == "condition":
            with workflow.condition(name, options["when"]) as condition:
                with condition.then():
                    build(workflow, options["then"])
                if "else" in options:
                    with condition.otherwise():
                        build(workflow, options["else"])
        elif kind == "fork":
            with workflow.fork(name, join=options.get("join")) as fork:
                for branch in options["branches"]:
                    with fork.branch():
                        build(workflow, branch)
        elif kind == "sleep":
            workflow.sleep(name, options["for"])
        else:
            getattr(workflow, kind)(name, **options)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        scenario = json.load(file)
    missing = set(scenario.get("needs", [])) - ABLE
    if missing:
        print("skipped: needs " + ", ".join(sorted(missing)))
        return 0
    story = Story(scenario, sys.argv[2])
    try:
        for number, action in enumerate(scenario["do"], 1):
            try:
                story.act(action)
            except Wrong as wrong:
                print(f"action {number}, {json.dumps(action)}: {wrong}")
                return 1
    finally:
        story.db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
