# bench/load_clients.py - the clients of bench/load: who they are and what they ask a server for.
#
# SPDX-License-Identifier: Apache-2.0
import asyncio
import collections
import json

SAGA = {"workflow": "saga", "version": 1, "steps": [
    {"step": "reserve", "handler": "saga.reserve", "compensation": {"handler": "undo.reserve"}},
    {"fork": "both", "join": "all", "branches": [
        [{"step": "charge", "handler": "saga.charge", "compensation": {"handler": "undo.charge"}}],
        [{"step": "pack", "handler": "saga.pack"}]]},
    {"step": "ship", "handler": "saga.ship", "max_attempts": 1}]}
FUNCTION = {"function": "fn", "version": 1}

# Of every hundred clients; those that are left claim jobs.
SHARES = {"producer": 10, "saga_worker": 25, "function_worker": 10, "deliverer": 3, "reader": 12, "watcher": 2}
LEASE_MS, WAIT_MS = 60000, 1000
OPEN_MAX = 5000         # producers wait while more than this is open


class Refused(Exception):
    pass


class Connection:
    """HTTP/1.1 on one connection that is kept open."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def send(self, method, path, body=None):
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        text = json.dumps(body).encode() if body is not None else b""
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        length, is_chunked = 0, False
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
            is_chunked |= name.lower() == "transfer-encoding"
        return status, length, is_chunked

    async def ask(self, method, path, body=None):
        """The answer's JSON (or text); a refusal is an exception."""
        status, length, is_chunked = await self.send(method, path, body)
        if is_chunked:
            answer = b""
            while size := int(await self.reader.readline(), 16):
                answer += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        else:
            answer = await self.reader.readexactly(length)
        if status >= 400:
            raise Refused(f"{method} {path}: {status} {answer[:300].decode()}")
        return json.loads(answer) if answer[:1] in (b"{", b"[") else answer.decode()

    def close(self):
        if self.writer:
            self.writer.close()


class Load:
    """All clients, what they have done, and what went wrong."""

    def __init__(self, port, clients, rate, chance, minutes):
        self.port, self.count, self.rate, self.chance = port, clients, rate, chance
        self.keep_ms = int(max(10, min(60, minutes * 60 / 20)) * 1000)
        self.done, self.errors = collections.Counter(), []
        self.open, self.is_stopping, self.tasks = 0, False, []

    async def prepare(self):
        """Waits for the server; workflows, schedules and the retention policy."""
        connection = Connection(self.port)
        for _ in range(300):
            try:
                await connection.ask("GET", "/readyz")
                break
            except (OSError, Refused):
                connection = Connection(self.port)
                await asyncio.sleep(0.1)
        for definition in (SAGA, FUNCTION):
            await connection.ask("POST", "/v1/workflows", definition)
        ages = {"succeeded": self.keep_ms, "failed": self.keep_ms, "cancelled": self.keep_ms}
        await connection.ask("PUT", "/v1/retention", {
            "jobs": ages, "keys_ms": 2 * self.keep_ms,
            "instances": {"completed": self.keep_ms, "failed": self.keep_ms, "cancelled": self.keep_ms,
                          "aborted": self.keep_ms}})
        for name, what in (("jobs", {"task": "job.scheduled"}), ("sagas", {"workflow": "saga"}),
                           ("functions", {"workflow": "fn"})):
            await connection.ask("PUT", f"/v1/schedules/{name}", {
                "every_ms": 1000, "overlap": "allow", "input": {"n": 0}, **what})
        connection.close()

    def start(self):
        for number in range(self.count):
            kind, rest = "job_worker", number % 100
            for name, share in SHARES.items():
                if rest < share:
                    kind = name
                    break
                rest -= share
            self.tasks.append(asyncio.create_task(self.live(kind, f"{kind}-{number}"), name=f"{kind}-{number}"))
        self.producers = sum(task.get_name().startswith("producer") for task in self.tasks)
        return self.tasks

    async def live(self, kind, name):
        connection = Connection(self.port)
        turn = getattr(self, kind)
        await asyncio.sleep(self.chance.random())
        while not self.is_stopping:
            try:
                await turn(connection, name)
            except Refused as error:
                self.errors.append(str(error))
                await asyncio.sleep(0.1)
        connection.close()

    async def stop(self):
        """Everybody ends after what they are just doing."""
        self.is_stopping = True
        _, late = await asyncio.wait(self.tasks, timeout=30)
        for task in late:
            if not task.get_name().startswith("watcher"):
                self.errors.append(f"{task.get_name()} does not end")
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    # ---- who there is ----------------------------------------------------------------------------

    async def producer(self, connection, name):
        """Ten jobs, a saga and a function, at its share of the rate."""
        if self.open > OPEN_MAX:
            await asyncio.sleep(0.1)
            return
        number = self.chance.randrange(1 << 40)
        jobs = [{"type": f"job.{i % 5}", "payload": {"n": number, "text": "x" * 200}, "tags": {"of": name}} for i in range(10)]
        jobs[0]["key"] = f"job-{number}"
        await connection.ask("POST", "/v1/jobs", {"jobs": jobs})
        await connection.ask("POST", "/v1/instances", {"workflow": "saga", "key": f"saga-{number}", "input": {"n": number}})
        await connection.ask("POST", "/v1/instances", {"workflow": "fn", "input": {"n": number}})
        self.open += 12
        await asyncio.sleep(10 * self.producers / self.rate)

    async def claim(self, connection, name, what, most):
        answer = await connection.ask("POST", "/v1/tasks/claim", {
            "worker": name, "max": most, "lease_ms": LEASE_MS, "wait_ms": WAIT_MS, **what})
        return answer["tasks"]

    async def job_worker(self, connection, name):
        tasks = await self.claim(connection, name, {"types": ["job.%"]}, 10)
        if tasks:
            await self.report(connection, name, [{"id": t["id"], "token": t["token"], "outcome": "complete",
                                                  "output": {"ok": True}} for t in tasks])
            self.count_done("jobs", len(tasks))

    async def saga_worker(self, connection, name):
        tasks = await self.claim(connection, name, {"types": ["saga.%", "undo.%"]}, 5)
        results = []
        for task in tasks:
            result = {"id": task["id"], "token": task["token"], "outcome": "complete", "output": task["input"]}
            if task["type"] == "saga.ship":
                self.count_done("sagas", 1)
                if self.chance.random() < 0.2:
                    result = {"id": task["id"], "token": task["token"], "outcome": "fail", "error": "out of stock"}
                else:
                    result["outbound"] = [{"event": "shipped", "payload": {"n": 1}}]
            results.append(result)
        if results:
            await self.report(connection, name, results)

    async def report(self, connection, name, results):
        answer = await connection.ask("POST", "/v1/tasks/report", {"worker": name, "results": results})
        refused = [item for item in answer.get("results", answer.get("items", [])) if item and item.get("code")]
        if refused:
            self.errors.append(f"a report was refused: {refused[0]}")

    async def function_worker(self, connection, name):
        what = {"functions": [{"name": "fn", "version": 1}]}
        for task in await self.claim(connection, name, what, 1):
            body = {"worker": name, "token": task["token"], "revision": task["revision"]}
            if task["places"] == 1:        # the first run: two steps, then a short sleep
                steps = [{"seq": i + 1, "key": f"s{i}", "kind": "task", "status": "completed", "output": i} for i in range(2)]
                steps.append({"seq": 3, "key": "nap", "kind": "sleep", "status": "waiting", "delay_ms": 100})
                body.update(outcome="suspend", steps=steps, logs=[{"level": "info", "message": "sleeps"}])
            else:
                body.update(outcome="complete", output={"ok": True})
                self.count_done("functions", 1)
            await connection.ask("POST", f"/v1/tasks/{task['id']}/commit", body)

    def count_done(self, what, count):
        self.done[what] += count
        self.open = max(0, self.open - count)

    async def deliverer(self, connection, name):
        answer = await connection.ask("POST", "/v1/outbox/claim", {"worker": name, "max": 50})
        events = answer["events"] if "events" in answer else answer["items"]
        for event in events:
            await connection.ask("POST", f"/v1/outbox/{event['id']}/ack")
            self.done["events"] += 1
        await asyncio.sleep(0 if events else 0.2)

    async def reader(self, connection, _name):
        path = self.chance.choice(("/v1/jobs?limit=20", "/v1/instances?limit=20", "/v1/instances?status=failed&limit=20",
                                   "/v1/workers", "/v1/schedules", "/metrics", "/v1/dlq"))
        answer = await connection.ask("GET", path)
        self.done["reads"] += 1
        if path.startswith("/v1/instances") and answer["items"]:
            some = self.chance.choice(answer["items"])["id"]
            for part in ("", "/steps", "/events"):
                try:
                    await connection.ask("GET", f"/v1/instances/{some}{part}")
                except Refused as error:        # it may be purged meanwhile
                    if ": 404 " not in str(error):
                        raise
        await asyncio.sleep(self.chance.random() * 2)

    async def watcher(self, connection, _name):
        await connection.send("GET", "/v1/stream")
        while not self.is_stopping:
            if not await connection.reader.readline():
                raise Refused("the stream ended")
            self.done["lines of the stream"] += 1
