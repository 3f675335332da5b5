# SPDX-License-Identifier: Apache-2.0
"""The engine and its handles, on every kind of store."""

from __future__ import annotations

import base64
import gc
import itertools
import json
import pickle
import threading
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Iterator, List, Optional

import pytest

import cairn
from cairn import _rows

TRIP = "{workflow: trip, version: 1, steps: [{step: flight}, {step: car}]}"


@pytest.fixture
def db(url: str) -> Iterator[cairn.Engine]:
    with cairn.open(url) as engine:
        yield engine


# ---- jobs


def test_a_job_is_recorded_once_per_key(db: cairn.Engine) -> None:
    first = db.enqueue("mail.v1", {"to": "ann"}, key="k", priority=7, max_attempts=9)
    again = db.enqueue("mail.v1", {"to": "bob"}, key="k")
    assert (first.existing, again.existing, first == again, hash(first) == hash(again)) == (False, True, True, True)
    job = first.get()
    assert (job.type, job.payload, job.status, job.priority, job.max_attempts) == ("mail.v1", {"to": "ann"}, "pending", 7, 9)
    assert job.idempotency_key == "k" and job.result is None and job.deleted_at is None
    assert job.created_at is not None and job.created_at.tzinfo is not None


def test_equal_calls_without_a_key_make_two_jobs(db: cairn.Engine) -> None:
    assert db.enqueue("mail.v1").id != db.enqueue("mail.v1").id


@pytest.mark.parametrize("value", [None, True, 0, -(1 << 63), (1 << 63) - 1, 1e3, "\u00e9\U0001F600", "", [], {}, [[1], {"a": None}]])
def test_payloads_come_back_as_they_were(db: cairn.Engine, value: Any) -> None:
    assert db.enqueue("mail.v1", value).get().payload == value


def test_a_payload_that_is_not_given_is_an_empty_object(db: cairn.Engine) -> None:
    assert db.enqueue("mail.v1").get().payload == {}
    assert db.enqueue("mail.v1", None).get().payload is None


def test_at_and_delay(db: cairn.Engine) -> None:
    at = datetime(2040, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    assert db.enqueue("mail.v1", at=at).get().run_at == at
    assert db.enqueue("mail.v1", at="2040-01-02T01:04:05Z").get().run_at == at
    before = db.now()
    later = db.enqueue("mail.v1", delay="1h").get().run_at
    assert later is not None and timedelta(hours=1) <= later - before < timedelta(hours=1, minutes=1)
    with pytest.raises(ValueError):
        db.enqueue("mail.v1", at=at, delay=1)
    with pytest.raises(ValueError):
        db.enqueue("mail.v1", at=datetime(2040, 1, 1))


def test_many_in_batches(url: str) -> None:
    with cairn.open(url, max_batch=7) as db:
        jobs = db.enqueue_many(cairn.JobSpec("many.v1", n, key=f"k{n % 10}") for n in range(20))
        assert len(jobs) == 20 and len(set(jobs)) == 10
        assert [job.existing for job in jobs] == [False] * 10 + [True] * 10
        assert db.enqueue_many([]) == []


def test_one_bad_spec_rejects_the_batch(db: cairn.Engine) -> None:
    with pytest.raises(cairn.BadInput):
        db.enqueue_many([cairn.JobSpec("a.v1"), cairn.JobSpec("b.v1", max_attempts=0)])
    assert list(db.jobs()) == []


def test_lists_go_over_pages(db: cairn.Engine) -> None:
    db.enqueue_many([cairn.JobSpec(f"t{n % 2}.v1", n) for n in range(250)])
    assert [job.payload for job in db.jobs()] == list(range(249, -1, -1))
    assert len(list(db.jobs(type="t1.%"))) == 125
    assert len(list(db.jobs(limit=120))) == 120 and len(list(db.jobs(limit=3))) == 3 and not list(db.jobs(limit=0))
    assert list(db.jobs(status="failed")) == []
    with pytest.raises(cairn.BadInput):
        next(db.jobs(status="nonsense"))


def test_cancel_retry_delete(db: cairn.Engine) -> None:
    job = db.enqueue("mail.v1")
    job.cancel()
    assert job.status() == "cancelled"
    with pytest.raises(cairn.WrongState):
        job.cancel()
    with pytest.raises(cairn.JobCancelled) as caught:
        job.result()
    assert caught.value.job.id == job.id and isinstance(caught.value, cairn.Ended)
    job.retry()
    assert job.status() == "pending"
    job.delete()
    assert list(db.jobs()) == [] and job.get().deleted_at is not None
    assert [event.type for event in job.events()][:2] == ["created", "cancelled"]


def test_what_is_not_there(db: cairn.Engine) -> None:
    with pytest.raises(cairn.NotFound) as caught:
        db.job("01a1de0a-e1f5-7b4e-b2be-fdfb5296b2dc").get()
    assert isinstance(caught.value, LookupError) and caught.value.code == "not_found" and caught.value.http_status == 404
    with pytest.raises(cairn.NotFound):
        db.start("nothing")
    with pytest.raises(cairn.NotFound):
        db.dlq_record("17")


def test_a_wait_that_is_too_short(db: cairn.Engine) -> None:
    with pytest.raises(cairn.TimedOut) as caught:
        db.enqueue("mail.v1").wait(timeout="20ms")
    assert isinstance(caught.value, TimeoutError)


def test_a_wait_is_ended_by_another_engine(url: str) -> None:
    with cairn.open(url) as db:
        job = db.enqueue("mail.v1")
        with threading_after(job.cancel):
            assert job.wait(timeout=60).status == "cancelled"


class threading_after:
    """Executes something in a thread while the block runs."""

    def __init__(self, call: Any) -> None:
        self._thread = threading.Thread(target=call)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._thread.join()


# ---- workflows


def test_deploy_and_start(db: cairn.Engine, tmp_path: Path) -> None:
    file = tmp_path / "trip.yaml"
    file.write_text(TRIP)
    first, again = db.deploy(TRIP), db.deploy_file(file)
    assert (first.name, first.version, first.existing, again.existing) == ("trip", 1, False, True)
    assert [(found.name, found.hash) for found in db.workflows()] == [("trip", first.hash)]
    with pytest.raises(cairn.Conflict):
        db.deploy(TRIP.replace("car", "bus"))
    with pytest.raises(cairn.BadInput) as caught:
        db.deploy("{workflow: trip, version: 0}")
    assert caught.value.detail or caught.value.message
    trip = db.start("trip", {"to": "Lisbon"}, key="k")
    assert db.start("trip", key="k").existing
    row = trip.get()
    assert (row.status, row.input, row.current_steps, row.key, row.error) == ("running", {"to": "Lisbon"}, ["flight"], "k", "")
    assert [step.name for step in trip.steps()] == ["flight", "car"]
    assert [found.id for found in db.instances(workflow="trip", key="k")] == [trip.id]


def test_control(db: cairn.Engine) -> None:
    db.deploy(TRIP)
    trip = db.start("trip")
    trip.pause()
    assert trip.status() == "paused"
    trip.resume()
    trip.cancel(by="ann", reason="ill")
    with pytest.raises(cairn.InstanceCancelled) as caught:
        trip.result(timeout=60)
    assert caught.value.instance.id == trip.id
    trip.restart()
    assert trip.status() == "running" and trip.get().generation == 2
    trip.abort(by="ann", reason="ill")
    with pytest.raises(cairn.InstanceAborted):
        trip.result(timeout=60)
    assert "workflow_aborted" in [event.type for event in trip.events()]
    with pytest.raises(cairn.WrongState):
        trip.signal("x")


def test_signals_and_decisions(db: cairn.Engine) -> None:
    db.deploy("{workflow: pay, version: 1, steps: [{wait: settled, event: paid}, {human: approval}]}")
    pay = db.start("pay", {"n": 1})
    assert pay.signal("other", latch=False).kept is False
    sent = pay.signal("paid", {"amount": 1}, id="s1")
    assert (sent.id, sent.existing, sent.taken) == ("s1", False, True)
    assert pay.signal("paid", {"amount": 1}, id="s1").existing
    pay.confirm("approval", by="ann", comment="ok")
    assert pay.result(timeout=60) is not None
    with pytest.raises(cairn.WrongState):
        pay.reject("approval", by="ann")


def test_start_later(db: cairn.Engine) -> None:
    db.deploy(TRIP)
    trip = db.start("trip", at="2040-01-01T00:00:00Z").get()
    assert trip.status == "pending" and trip.start_at == datetime(2040, 1, 1, tzinfo=timezone.utc)


def test_timeout_and_retry_of_a_job(db: cairn.Engine) -> None:
    backoff = cairn.Backoff("fixed", base="2s", jitter=0.5)
    wanted = {"backoff": "fixed", "base_ms": 2000, "max_ms": 300_000, "jitter": 0.5}
    one = db.enqueue("mail.v1", timeout="30s", retry=backoff).get()
    many = db.enqueue_many([cairn.JobSpec("mail.v1", timeout=1.5, retry=backoff), cairn.JobSpec("mail.v1")])
    assert (one.timeout_ms, one.retry) == (30_000, wanted)
    assert [(job.get().timeout_ms, job.get().retry) for job in many] == [(1500, wanted), (0, None)]
    with pytest.raises(cairn.BadInput):
        db.enqueue("mail.v1", timeout=10**10)


def test_keys_that_are_known(db: cairn.Engine) -> None:
    first = db.enqueue("index.v1", {"rev": 1}, key="doc", debounce="1h")
    again = db.enqueue("index.v1", {"rev": 2}, key="doc", debounce="1h")
    assert again.existing and again.id == first.id and first.get().payload == {"rev": 2}
    with pytest.raises(cairn.Conflict, match=first.id):
        db.enqueue("index.v1", key="doc", on_existing="fail")
    with pytest.raises(cairn.Conflict):
        db.enqueue_many([cairn.JobSpec("index.v1", key="doc", on_existing="fail")])
    first.cancel()
    assert db.enqueue("index.v1", key="doc", on_existing="restart_failed").id == first.id
    assert not db.enqueue("index.v1", key="doc", on_existing="new_if_ended").existing
    db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    trip = db.start("trip", key="t")
    with pytest.raises(cairn.Conflict, match=trip.id):
        db.start("trip", key="t", on_existing="fail")
    trip.cancel(by="ann", reason="rain")
    assert db.start("trip", key="t", on_existing="new_if_ended").id != trip.id
    with pytest.raises(cairn.BadInput):
        db.enqueue("index.v1", debounce="1h")


def test_rerun(db: cairn.Engine) -> None:
    app, calls = cairn.App(), []

    @app.task("again.%")
    def again(task: cairn.Task, n: int) -> int:
        calls.append(task.step)
        return n + 1

    db.deploy("{workflow: again, version: 1, steps: [{step: a, handler: again.a}, {step: b, handler: again.b}]}")
    first = db.start("again", 1)
    db.worker(app).run(until_idle=True, signals=False)
    second = first.rerun("b", 10)
    db.worker(app).run(until_idle=True, signals=False)
    assert second.result() == 11 and calls == ["a", "b", "b"] and second.get().source == first.id
    assert first.rerun().get().input == 1
    with pytest.raises(cairn.NotFound):
        first.rerun("none")


def test_tags(db: cairn.Engine) -> None:
    db.deploy("{workflow: trip, version: 1, steps: [{step: flight}]}")
    mail = db.enqueue("mail.v1", tags={"customer": "4711", "env": "a:b"})
    db.enqueue("mail.v1", tags={"customer": "4711"})
    trip = db.start("trip", tags={"customer": "4711"})
    db.start("trip")
    assert mail.get().tags == {"customer": "4711", "env": "a:b"} and trip.get().tags == {"customer": "4711"}
    assert [job.id for job in db.jobs(tags={"customer": "4711", "env": "a:b"})] == [mail.id]
    assert [one.id for one in db.instances(tags={"customer": "4711"})] == [trip.id]
    assert len(list(db.jobs(tags={"customer": "4711"}))) == 2 and not list(db.jobs(tags={"customer": "47"}))
    with pytest.raises(cairn.BadInput):
        db.enqueue("mail.v1", tags={"a:b": "c"})
    with pytest.raises(TypeError):
        db.start("trip", tags="a")  # type: ignore[arg-type]


def test_metadata(db: cairn.Engine) -> None:
    db.deploy(TRIP)
    assert db.enqueue("mail.v1", metadata={"tenant": "a"}).get().metadata == {"tenant": "a"}
    assert db.start("trip", metadata={"tenant": "b"}).get().metadata == {"tenant": "b"}
    with pytest.raises(TypeError):
        db.enqueue("mail.v1", metadata="a")  # type: ignore[arg-type]


# ---- the rest


def test_registry(db: cairn.Engine) -> None:
    db.registry_put("mail/v1", runtime="go", enabled=False, description="old")
    [entry] = db.registry()
    assert (entry.workflow_name, entry.runtime, entry.is_enabled, entry.description) == ("mail/v1", "go", False, "old")


def test_events_of_all(db: cairn.Engine) -> None:
    jobs = [db.enqueue("mail.v1") for _ in range(3)]
    # They are followed: on PostgreSQL an event is told when no transaction is open that began before it, in any database.
    events = list(itertools.islice(db.events(follow=True), 3))
    assert [event.subject for event in events] == [job.id for job in jobs]
    assert list(db.events(events[-1].id)) == []
    assert [event.subject for event in db.events(events[0].id)] == [jobs[1].id, jobs[2].id]


def test_events_are_followed_until_the_engine_is_closed(url: str) -> None:
    db = cairn.open(url)
    seen: List[str] = []
    has_seen = threading.Event()

    def follow() -> None:
        try:
            for event in db.events(follow=True):
                seen.append(event.subject)
                has_seen.set()
        except cairn.Closed:
            pass

    thread = threading.Thread(target=follow)
    thread.start()
    job = db.enqueue("mail.v1")
    assert has_seen.wait(60)
    db.close()
    thread.join(60)
    assert not thread.is_alive() and seen == [job.id]


def test_figures(db: cairn.Engine) -> None:
    db.enqueue("mail.v1")
    assert db.stats()["pending"] == 1
    assert all(finding.result in ("ok", "warning") for finding in db.doctor())


def test_any_route(db: cairn.Engine) -> None:
    assert db.call("GET", "/v1/jobs?limit=1") == (200, {"items": [], "next": None, "scanned_to": None})
    status, answer = db.call("POST", "/v1/jobs", {"type": "mail.v1"})
    assert status == 201 and answer["existing"] is False
    assert db.call("POST", "/v1/jobs", {"type": 1})[0] == 400
    assert isinstance(db.call("GET", "/metrics")[1], str)


def test_limits(db: cairn.Engine) -> None:
    db.limit_put(cairn.Limit("mail", types="mail.%", concurrency=2, per_group=True))
    db.limit_put(cairn.Limit("slow", types="slow.v1", rate=(5, "1m")))
    mail, slow = db.limits()
    assert (mail.name, mail.concurrency, mail.rate, mail.per_group) == ("mail", 2, None, True)
    assert (slow.types, slow.concurrency, slow.rate, slow.per_group) == ("slow.v1", 0, (5, 60.0), False)
    assert db.enqueue("mail.v1", group="ann").get().group == "ann"
    assert [(limit.taken, limit.waiting) for limit in db.limits()] == [(0, 1), (0, 0)]
    db.limit_delete("slow")
    with pytest.raises(cairn.NotFound):
        db.limit_delete("slow")
    with pytest.raises(cairn.BadInput):
        db.limit_put(cairn.Limit("none", types="t"))


def test_schedules(db: cairn.Engine) -> None:
    db.schedule_put(cairn.Schedule("nightly", cron="0 3 * * *", timezone="Europe/Berlin", workflow="report", overlap="queue"))
    db.schedule_put(cairn.Schedule("ping", every="90s", task="ping.v1", input={"host": "a"}, paused=True))
    nightly, ping = db.schedules()
    assert (nightly.name, nightly.cron, nightly.timezone, nightly.overlap) == ("nightly", "0 3 * * *", "Europe/Berlin", "queue")
    assert nightly.next_at is not None and nightly.paused is False and nightly.runs == []
    assert (ping.every, ping.task, ping.input, ping.paused, ping.next_at) == (90, "ping.v1", {"host": "a"}, True, None)
    db.schedule_put(ping)
    with pytest.raises(cairn.BadInput, match="minute"):
        db.schedule_put(cairn.Schedule("bad", cron="61 * * * *", task="ping.v1"))
    db.schedule_delete("nightly")
    assert [found.name for found in db.schedules()] == ["ping"]
    with pytest.raises(cairn.NotFound):
        db.schedule_delete("nightly")


# ---- opening and closing


def test_a_closed_engine(url: str) -> None:
    db = cairn.open(url)
    job = db.enqueue("mail.v1")
    db.close()
    db.close()
    for call in (db.stats, job.get, lambda: list(db.jobs()), lambda: db.enqueue("mail.v1")):
        with pytest.raises(cairn.Closed) as caught:
            call()
        assert caught.value.is_retryable


def test_closing_ends_waits(url: str) -> None:
    db = cairn.open(url)
    job = db.enqueue("mail.v1")
    errors: List[Optional[BaseException]] = []

    def wait() -> None:
        try:
            job.wait()
        except cairn.CairnError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    job.get()
    db.close()
    thread.join(60)
    assert not thread.is_alive() and isinstance(errors[0], cairn.Closed)


def test_an_engine_that_is_collected_warns() -> None:
    db = cairn.open("memory:")
    with pytest.warns(ResourceWarning, match="unclosed engine 'memory:'"):
        del db
        gc.collect()


def test_what_cannot_be_pickled() -> None:
    app = cairn.App()
    app.task("mail.v1")(lambda: None)
    with cairn.open("memory:") as db:
        for thing in (db, db.enqueue("mail.v1"), db.worker(app)):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(thing)


def test_a_store_that_cannot_be_opened(tmp_path: Path) -> None:
    file = tmp_path / "not.db"
    file.write_text("not a database, but long enough to be read as one" * 100)
    with pytest.raises(cairn.NotADatabase):
        cairn.open(f"sqlite:{file}")
    with pytest.raises(cairn.BadInput):
        cairn.open("nonsense:")
    with pytest.raises(cairn.Unreachable) as caught:
        cairn.open("http://127.0.0.1:1", retry=0).stats()
    assert isinstance(caught.value, ConnectionError)


def test_the_url_has_no_password(postgres_url: str) -> None:
    with cairn.open(postgres_url.replace("://", "://x:secret@") if "@" not in postgres_url else postgres_url) as db:
        assert "secret" not in db.url


def test_the_default_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CAIRN_URL", raising=False)
    with cairn.open() as db:
        assert db.url == "sqlite:cairn.db"
    monkeypatch.setenv("CAIRN_URL", "memory:")
    with cairn.open() as db:
        assert db.url == "memory:"


def test_limits(url: str) -> None:
    if url.startswith("http"):
        return  # the limits of the server hold
    with cairn.open(url, max_payload=100) as db:
        with pytest.raises(cairn.TooLarge):
            db.enqueue("mail.v1", "x" * 100)


# ---- codecs and rows


class Hidden:
    """A codec that hides what it writes."""

    def encode(self, value: Any) -> str:
        return json.dumps(base64.b64encode(json.dumps(value).encode()).decode())

    def decode(self, text: str, type: Any) -> Any:
        return json.loads(base64.b64decode(json.loads(text)))


def test_a_codec_of_ones_own(url: str) -> None:
    app = cairn.App()
    app.task("double.v1")(lambda n: n * 2)
    with cairn.open(url, codec=Hidden()) as db:
        job = db.enqueue("double.v1", 21)
        assert db.call("GET", f"/v1/jobs/{job.id}")[1]["payload"] == base64.b64encode(b"21").decode()
        db.work(app, until_idle=True)
        assert job.get().payload == 21 and job.result(timeout=60) == 42


@dataclass
class Order:
    id: int


def test_results_are_decoded_by_annotation(db: cairn.Engine) -> None:
    app = cairn.App()

    @app.task("order.v1")
    def order(n: int) -> Order:
        return Order(n)

    job = db.enqueue(order, 7)
    db.work(app, until_idle=True)
    assert job.result(timeout=60) == Order(7)
    assert db.job(job.id, Order).result(timeout=60) == Order(7)
    assert db.job(job.id).result(timeout=60) == {"id": 7}


def openapi() -> Any:
    path = Path(__file__).parents[3] / "spec" / "openapi.json"
    return json.loads(path.read_text())["components"]["schemas"]


@pytest.mark.parametrize("name, schema", [
    ("Job", "Job"), ("Instance", "Instance"), ("Step", "Step"), ("Event", "Event"), ("StreamEvent", "StreamEvent"),
    ("Log", "Log"), ("DlqRecord", "DlqRecord"), ("Definition", "Workflow"), ("Deployed", "Deployed"),
    ("Signalled", "Signalled"), ("RegistryEntry", "RegistryEntry"), ("OutboxEvent", "OutboxEvent"), ("Finding", "Finding")])
def test_rows_have_the_fields_of_the_json(name: str, schema: str) -> None:
    assert {field.name for field in fields(getattr(_rows, name))} == set(openapi()[schema]["properties"])
