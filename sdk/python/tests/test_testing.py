# SPDX-License-Identifier: Apache-2.0
"""cairn.testing and the fixtures of pytest."""

import dataclasses
from datetime import datetime, timedelta, timezone
from typing import Any, List

import pytest

import cairn
from cairn.testing import Environment, Faults, assert_enqueued, explore
from conftest import serve

START = datetime(2030, 1, 1, tzinfo=timezone.utc)


@pytest.fixture(params=["memory", "sqlite", "postgres", "http"])
def env(request: pytest.FixtureRequest) -> Any:
    """An environment on each kind of store; over HTTP the clock is that of the server."""
    if request.param == "http":
        store = request.getfixturevalue("sqlite_url")
        for address in serve(store, "--virtual-clock"):
            with Environment(address) as env:
                yield env
        return
    url = "memory:" if request.param == "memory" else request.getfixturevalue(request.param + "_url")
    with Environment(url) as env:
        yield env


def reminder_app() -> Any:
    app = cairn.App()

    @app.function("reminder")
    def reminder(ctx: cairn.Context, who: str) -> str:
        ctx.sleep("30d")
        return f"hello {who}"

    return app, reminder


def test_the_clock_stands_still(env: Environment) -> None:
    before = env.now()
    assert env.now() == before
    assert env.advance("1d") == before + timedelta(days=1) == env.now()


def test_it_starts_when_it_is_told() -> None:
    with Environment(start="2040-02-29T12:00:00Z") as env:
        assert env.now() == datetime(2040, 2, 29, 12, tzinfo=timezone.utc)


def test_work_and_advance(env: Environment) -> None:
    app, reminder = reminder_app()
    run = env.db.start(reminder, "ann")
    assert env.work(app) == 1
    env.advance("29d")
    assert env.work(app) == 0 and run.status() == "running"
    env.advance("1d")
    assert env.work(app) == 1
    assert run.result() == "hello ann"


def test_run_skips_time(env: Environment) -> None:
    app, reminder = reminder_app()
    before = env.now()
    runs = [env.db.start(reminder, who) for who in ("ann", "bob")]
    env.run(app, until=runs)
    assert [run.result() for run in runs] == ["hello ann", "hello bob"]
    assert env.now() - before == timedelta(days=30)


def test_run_waits_for_retries(env: Environment) -> None:
    """After n failed calls of a job: n squared minutes, and up to a tenth more."""
    app, calls = cairn.App(), []

    @app.task("flaky.v1")
    def flaky(task: cairn.Task, payload: int) -> int:
        calls.append(env.now())
        if task.attempt < 3:
            raise OSError("not yet")
        return payload

    job = env.db.enqueue(flaky, 7)
    env.run(app, until=job)
    assert job.result() == 7
    first, second = calls[1] - calls[0], calls[2] - calls[1]
    assert timedelta(minutes=1) <= first <= timedelta(minutes=1.1)
    assert timedelta(minutes=4) <= second <= timedelta(minutes=4.4)
    assert [type(error) for error in env.errors] == [OSError, OSError]


def test_run_starts_what_is_scheduled(env: Environment) -> None:
    app = cairn.App()
    app.task("%")(lambda: None)
    before = env.now()
    job = env.db.enqueue("later.v1", at=before + timedelta(days=3, microseconds=500))
    env.run(app, until=job)
    assert timedelta(days=3) <= env.now() - before <= timedelta(days=3, milliseconds=1)


def test_run_ends_at_a_timeout(env: Environment) -> None:
    env.db.deploy("{workflow: leave, version: 1, steps: [{human: approval, timeout: 3d}]}")
    run, before = env.db.start("leave"), env.now()
    env.run(cairn.App(), until=run)
    assert run.status() == "failed" and env.now() - before == timedelta(days=3)


def test_nothing_is_due_any_more(env: Environment) -> None:
    app = cairn.App()
    app.task("%")(lambda: None)
    env.db.deploy("{workflow: pay, version: 1, steps: [{step: ask}, {wait: settled, event: paid}, {step: close}]}")
    run = env.db.start("pay")
    with pytest.raises(AssertionError) as caught:
        env.run(app, until=run)
    text = str(caught.value)
    assert text.startswith("nothing is due any more")
    assert f"pay {run.id} is waiting_signal" in text and 'for the event "paid"' in text and "ask" in text


def test_within(env: Environment) -> None:
    app, reminder = reminder_app()
    run, before = env.db.start(reminder, "ann"), env.now()
    with pytest.raises(AssertionError, match="have not ended"):
        env.run(app, until=run, within="29d")
    assert env.now() - before < timedelta(days=29)
    env.run(app, until=run, within="30d")
    assert run.status() == "completed"


def test_a_job_that_nobody_handles() -> None:
    app = cairn.App()
    app.task("other.v1")(lambda: None)
    with Environment() as env:
        job = env.db.enqueue("mail.v1")
        with pytest.raises(AssertionError, match=f"job {job.id} of mail.v1 is pending"):
            env.run(app, until=job)


@pytest.mark.parametrize("until", [None, [], "id", [None]])
def test_until_is_a_handle(until: Any) -> None:
    with Environment() as env, pytest.raises(TypeError):
        env.run(cairn.App(), until=until)


def test_errors_are_kept_in_order() -> None:
    app = cairn.App()

    @app.task("fails.v1")
    def fails(n: int) -> None:
        raise ValueError(n) if n else cairn.Dead("dead")

    @app.task("pauses.v1")
    def pauses(task: cairn.Task) -> None:
        raise cairn.Release(after="1h")

    with Environment() as env:
        for n in (1, 0, 2):
            env.db.enqueue(fails, n, max_attempts=1)
        env.db.enqueue(pauses)
        assert env.work(app) == 4
        assert [repr(error) for error in env.errors] == ["ValueError(1)", "Dead('dead')", "ValueError(2)"]
        env.db.enqueue(fails, 3, max_attempts=1)
        with pytest.raises(ValueError, match="3"):
            env.work(app, raise_errors=True)
        assert env.work(app, raise_errors=True) == 0


def test_the_app_is_left_as_it_was() -> None:
    app = cairn.App()
    app.task("a.v1")(lambda: None)
    with Environment() as env:
        env.work(app)
    assert app.arounds == []


def test_state_and_lifespan() -> None:
    app, seen = cairn.App(), []

    @app.lifespan
    def connect() -> Any:
        yield "own"

    @app.task("a.v1")
    def handler(task: cairn.Task) -> None:
        seen.append(task.state)

    with Environment() as env:
        env.db.enqueue(handler)
        env.work(app)
        env.db.enqueue(handler)
        env.work(app, state="given")
    assert seen == ["own", "given"]


def test_the_same_seed_gives_the_same_run() -> None:
    def once(seed: int) -> List[str]:
        with Environment(seed=seed) as env:
            return [env.db.enqueue("a.v1").id for _ in range(3)]

    assert once(1) == once(1) != once(2)


def test_assert_enqueued() -> None:
    with Environment() as env:
        env.db.enqueue("mail.v1", {"to": "ann"})
        env.db.enqueue("mail.v1", {"to": "bob"})
        assert [job.payload["to"] for job in assert_enqueued(env.db, "mail.v1")] == ["ann", "bob"]
        assert len(assert_enqueued(env.db, "mail.v1", {"to": "bob"}, count=1)) == 1
        assert assert_enqueued(env.db, "other.v1", count=0) == []
        for arguments, count in ((("mail.v1", {"to": "eve"}), None), (("mail.v1",), 1), (("other.v1",), None)):
            with pytest.raises(AssertionError):
                assert_enqueued(env.db, *arguments, count=count)


# ---- fixtures -------------------------------------------------------------------------------------


def test_fixtures(cairn_env: Environment, cairn_db: cairn.Engine) -> None:
    assert cairn_env.db is cairn_db and cairn_env.now() == START


# ---- faults

ORDER = """{workflow: order, version: 1, steps: [
    {step: charge, timeout: 20s, compensation: {handler: refund, max_attempts: 20}},
    {step: ship, max_attempts: 2, on_failure: compensate}]}"""
MANY_FAULTS = Faults(fail=0.3, crash=0.1, timeout=0.1, late=0.1, twice=0.1, fail_of={"charge:undo": 0.2})


def order_app(paid: Any) -> cairn.App:
    """Handlers of a provider that knows a key once."""
    app = cairn.App()

    @app.task("charge")
    def charge(task: cairn.Task, order: Any) -> Any:
        paid[task.key] = order
        return order

    @app.task("refund")
    def refund(task: cairn.Task, undo: Any) -> None:
        assert task.key is not None
        paid.pop(task.key[:-len(":undo")], None)

    @app.task("ship")
    def ship(order: Any) -> Any:
        return order

    return app


def run_order(env: Environment) -> Any:
    paid: Any = {}
    env.db.deploy(ORDER)
    run = env.db.start("order", {"id": 1})
    env.run(order_app(paid), until=run)
    verdict = env.expect(run, "done(charge) => done(ship) or undone(charge)", "ended(completed) => done(ship)")
    assert bool(paid) == (verdict.status == "completed")
    return verdict


@pytest.mark.parametrize("restart", [0, 0.1])
def test_faults_reach_every_end(restart: float) -> None:
    ends: List[str] = []
    stories: List[str] = []

    def scenario(env: Environment) -> None:
        verdict = run_order(env)
        ends.append(verdict.status)
        stories.extend(verdict.story)

    explore(scenario, seeds=30, faults=dataclasses.replace(MANY_FAULTS, restart=restart))
    assert set(ends) == {"completed", "failed"}
    told = "\n".join(stories)
    for words in ("fails before it does anything", "has done its work, and fails then", "before charge does anything",
                  "after charge has done its work", "arrives late, and is refused", "arrives a second time",
                  "does not answer until its timeout"):
        assert words in told, words
    assert ("the engine is restarted" in told) == (restart > 0)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_faults_on_other_stores(kind: str, request: pytest.FixtureRequest) -> None:
    with Environment(request.getfixturevalue(kind + "_url"), seed=3, faults=MANY_FAULTS) as env:
        told = run_order(env).story
    with Environment(seed=3, faults=MANY_FAULTS) as env:
        assert run_order(env).story == told


def test_a_seed_repeats_a_run() -> None:
    def tell(seed: int) -> List[str]:
        with Environment(seed=seed, faults=MANY_FAULTS) as env:
            story: List[str] = run_order(env).story
            return story

    assert tell(7) == tell(7)
    assert len({"\n".join(tell(seed)) for seed in range(1, 6)}) > 1


def test_a_failing_seed_is_reported_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: List[int] = []

    def scenario(env: Environment) -> None:
        seeds.append(len(seeds))
        app, calls = cairn.App(), []

        @app.task("%")
        def handle(data: Any) -> Any:
            calls.append(data)
            return data

        env.db.deploy("{workflow: w, version: 1, steps: [{step: a}]}")
        env.run(app, until=env.db.start("w"))
        assert len(calls) < 2, "called again"

    with pytest.raises(AssertionError, match=r"(?s)^seed \d+: called again\n.*00:00:00.0  a is called.*CAIRN_SEED=\d+$") as caught:
        explore(scenario, seeds=200)
    seed = int(str(caught.value).split("\n")[0].split(":")[0].split()[1])
    monkeypatch.setenv("CAIRN_SEED", str(seed))
    before = len(seeds)
    with pytest.raises(AssertionError) as again:
        explore(scenario)
    assert str(again.value) == str(caught.value) and len(seeds) == before + 1


def test_laws_that_always_count() -> None:
    def never_ends(env: Environment) -> None:
        env.db.deploy("{workflow: w, version: 1, steps: [{wait: paid, event: paid}]}")
        env.db.start("w")

    with pytest.raises(AssertionError, match="every instance ends"):
        explore(never_ends, seeds=1)


def test_children_belong_to_their_parent() -> None:
    def scenario(env: Environment) -> None:
        app = cairn.App()

        @app.task("%")
        def handle(data: Any) -> Any:
            return data

        env.db.deploy("""{workflow: billing, version: 1, steps: [
            {step: invoice, compensation: {handler: cancel_invoice, max_attempts: 20}}]}""")
        env.db.deploy("""{workflow: shop, version: 1, steps: [
            {start: bill, workflow: billing}, {map: mail, over: "{{ $.input.who }}", on_failure: compensate, steps: [{step: send}]},
            {step: pack, max_attempts: 1, on_failure: compensate}]}""")
        run = env.db.start("shop", {"who": ["ann", "bob"]})
        env.run(app, until=run)
        verdict = env.expect(run, "done(invoice) => done(pack) or undone(invoice)")
        assert "send" in verdict.called or "invoice" not in verdict.done

    explore(scenario, seeds=10, faults=Faults(fail=0.2, crash=0.1))


def test_functions_go_on_after_a_crash() -> None:
    repeated: List[int] = []

    def scenario(env: Environment) -> None:
        app, calls = cairn.App(), []

        @app.function("buy", max_attempts=50)
        def buy(ctx: cairn.Context, item: str) -> int:
            n = sum(ctx.step(key, lambda key=key: calls.append(key) or 1) for key in "abc")
            ctx.sleep("1h")
            return n

        run = env.db.start(buy, "book")
        env.run(app, until=run)
        assert run.result() == 3
        repeated.append(len(calls) - 3)

    explore(scenario, seeds=10, faults=Faults(crash=0.5))
    assert any(repeated)


def test_faults_that_cannot_be(env: Environment) -> None:
    with pytest.raises(cairn.errors.BadInput, match="the rate fail must be from 0 to 1"):
        Environment(faults=Faults(fail=2))
    with pytest.raises(cairn.errors.BadInput, match="is not STEP=RATE"):
        Environment(faults=Faults(fail_of={"a": 7}))
    with pytest.raises(cairn.errors.Misuse, match="has no faults"):
        env.story()
    with Environment(faults=Faults()) as trial:
        with pytest.raises(ValueError, match="concurrency is 1"):
            trial.work(cairn.App(), concurrency=2)
        env.db.deploy("{workflow: w, version: 1, steps: [{step: a}]}")
        trial.db.deploy("{workflow: w, version: 1, steps: [{step: a}]}")
        with pytest.raises(cairn.errors.BadInput, match="names a step that does not exist: b"):
            trial.expect(trial.db.start("w"), "done(b)")
