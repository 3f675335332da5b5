# SPDX-License-Identifier: Apache-2.0
"""The workflow builder: the same content, and so the same hash, as the file."""

import json
from datetime import timedelta

import pytest

import cairn
from cairn import Backoff, BadInput, Compensation, Misuse, Workflow

ORDER = """
workflow: order
version: 3
dlq: true
input:
  schema: {type: object, required: [count], properties: {count: {type: integer, minimum: 0}}}
  example: {count: 2, note: "ä"}
steps:
  - step: reserve
    handler: stock.reserve.v1
    max_attempts: 5
    retry: {backoff: linear, base: 2s, max: 1m, jitter: 0.1}
    timeout: 30s
    priority: 80
    on_failure: compensate
    metadata: {team: stock}
    compensation: {handler: stock.release.v1, max_attempts: 9, timeout: 10s, retry: {backoff: fixed}, metadata: {a: 1}}
  - save_point: reserved
  - condition: in_stock
    when: "{{ gt .count 0 }}"
    then: [{step: pick}]
    else:
      - step: restock
        idempotent: false
      - sleep: cool_off
        for: 90s
  - fork: fulfilment
    join: any
    branches:
      - [{step: ship}, {step: track}]
      - [{step: invoice, compensation: {handler: credit}}]
  - parallel: tell
    steps: [{step: mail}, {step: sms}]
  - human: approval
    timeout: 3d
    on_timeout: continue
  - wait: settled
    event: payment.settled
    timeout: 1h
    on_failure: continue
  - start: bill
    workflow: billing
    version: 2
    input: {n: [1, null]}
    key: k
    tags: {team: red}
    wait: false
    on_failure: continue
    compensation: {handler: unbill}
  - start: mail_all
    workflow: mail
  - map: each
    over: "{{ .to }}"
    input: {to: "{{ $.input.to }}"}
    max_parallel: 5
    join: {at_least: 2}
    collect: false
    steps: [{step: one}, {step: two}]
  - step: close
"""


def order() -> Workflow:
    wf = Workflow("order", version=3, dlq=True)
    wf.input(schema={"type": "object", "properties": {"count": {"minimum": 0, "type": "integer"}}, "required": ["count"]},
             example={"note": "ä", "count": 2})
    wf.step("reserve", "stock.reserve.v1", max_attempts=5, retry=Backoff("linear", "2s", "1m", jitter=0.1),
            timeout=30, priority=80, on_failure="compensate", metadata={"team": "stock"},
            compensation=Compensation("stock.release.v1", max_attempts=9, timeout=timedelta(seconds=10),
                                      retry=Backoff("fixed"), metadata={"a": 1}))
    wf.save_point("reserved")
    with wf.condition("in_stock", "{{ gt .count 0 }}") as stock:
        with stock.then():
            wf.step("pick")
        with stock.otherwise():
            wf.step("restock", idempotent=False)
            wf.sleep("cool_off", "90s")
    with wf.fork("fulfilment", join="any") as fork:
        with fork.branch():
            wf.step("ship")
            wf.step("track")
        with fork.branch():
            wf.step("invoice", compensation="credit")
    wf.parallel("tell", "mail", "sms")
    wf.human("approval", timeout="72h", on_timeout="continue")
    wf.wait("settled", event="payment.settled", timeout="1h", on_failure="continue")
    wf.start("bill", "billing", version=2, input={"n": [1, None]}, key="k", tags={"team": "red"}, wait=False,
             on_failure="continue", compensation="unbill")
    wf.start("mail_all", "mail")
    with wf.map("each", "{{ .to }}", max_parallel=5, join=2, collect=False, input={"to": "{{ $.input.to }}"}):
        wf.step("one")
        wf.step("two")
    wf.step("close")
    return wf


def test_the_hash_is_that_of_the_file():
    with cairn.open("memory:") as db:
        first = db.deploy(ORDER)
        second = db.deploy(order())
    assert second.existing and second.hash == first.hash
    assert (second.name, second.version) == ("order", 3)


def test_an_example_must_fit_its_schema():
    wf = Workflow("w")
    wf.input(schema={"type": "object", "required": ["count"]}, example={})
    wf.step("a")
    with pytest.raises(BadInput, match='"count" is required and missing'):
        wf.text()


def test_defaults_are_not_written():
    wf = Workflow("w")
    wf.step("a", "a", max_attempts=3, retry=Backoff("exponential", "1s", "5m"), priority=50)
    wf.human("b")
    wf.wait("c", event="e")
    assert json.loads(wf.text())["steps"] == [{"step": "a"}, {"human": "b"}, {"wait": "c", "event": "e"}]


def test_a_fork_without_join():
    wf = Workflow("w")
    with wf.fork("f", join=None) as fork:
        for name in "ab":
            with fork.branch():
                wf.step(name)
    assert json.loads(wf.text())["steps"] == [{"fork": "f", "branches": [[{"step": "a"}], [{"step": "b"}]]}]


def test_lists_nest():
    wf = Workflow("w")
    with wf.condition("outer", "{{ .a }}") as outer:
        with outer.then():
            with wf.fork("f") as fork:
                with fork.branch():
                    with wf.condition("inner", "{{ .b }}") as inner:
                        with inner.otherwise():
                            wf.step("deep")
                with fork.branch():
                    wf.step("beside")
            wf.step("after")
    (condition,) = json.loads(wf.text())["steps"]
    fork_element, after = condition["then"]
    assert after == {"step": "after"}
    assert fork_element["branches"][0][0]["else"] == [{"step": "deep"}]


def test_text_tells_all_that_is_wrong():
    wf = Workflow("w")
    wf.step("a")
    wf.step("a")
    wf.step("b", priority=500)
    with pytest.raises(BadInput) as caught:
        wf.text()
    assert '"a"' in str(caught.value) and "priority" in str(caught.value)


def test_elements_go_into_lists():
    wf = Workflow("w")
    with wf.condition("c", "{{ .a }}") as condition:
        with pytest.raises(Misuse, match=r"then\(\) or otherwise\(\)"):
            wf.step("lost")
        with condition.then():
            wf.step("a")
        with pytest.raises(Misuse, match="already"):
            with condition.then():
                pass
    with pytest.raises(Misuse, match="not the innermost"):
        with condition.otherwise():
            pass
    with wf.fork("f") as fork:
        with pytest.raises(Misuse, match=r"branch\(\)"):
            wf.step("lost")
        with fork.branch():
            wf.step("b")
    assert [list(element)[0] for element in json.loads(wf.text())["steps"]] == ["condition", "fork"]


@pytest.mark.parametrize("make", [
    lambda: Backoff("sometimes"), lambda: Backoff("fixed", "1w"), lambda: Backoff("fixed", jitter=2),
    lambda: Workflow("w").sleep("s", -1), lambda: Workflow("w").step("s", timeout="soon")])
def test_bad_values_are_refused_at_once(make):
    with pytest.raises(ValueError):
        make()


def test_a_backoff_longer_than_the_default_maximum():
    wf = Workflow("w")
    wf.step("a", retry=Backoff("fixed", "10m", "10m"))
    assert json.loads(wf.text())["steps"][0]["retry"] == {"backoff": "fixed", "base": "10m"}
    other = Workflow("w")
    other.step("a", retry=Backoff("fixed", "10m"))
    with cairn.open("memory:") as db:
        assert db.deploy(wf).hash == db.deploy(other).hash


def test_validate():
    assert cairn.validate(ORDER) == []
    flaws = cairn.validate("workflow: w\nversion: 1\nsteps:\n  - stepp: a\n  - step: b\n    timeout: 1w\n")
    assert [flaw.line for flaw in flaws] == sorted(flaw.line for flaw in flaws)
    assert any(flaw.line == 6 and "timeout" in flaw.message for flaw in flaws)
    assert cairn.validate("a\0b")[0].line == 1


@pytest.mark.parametrize("form, part", [("terminal", "reserve"), ("dot", "digraph"), ("mermaid", "flowchart")])
def test_draw(form, part):
    assert part in order().draw(form)


def test_draw_refuses_other_forms():
    with pytest.raises(BadInput):
        order().draw("svg")  # type: ignore[arg-type]


def test_task_types_are_handlers():
    app = cairn.App()

    @app.task("stock.reserve.v1")
    def reserve() -> None: ...

    @app.task("stock.release.v1")
    def release() -> None: ...

    wf = Workflow("w")
    wf.step("reserve", reserve, compensation=release)
    assert json.loads(wf.text())["steps"] == [
        {"step": "reserve", "handler": "stock.reserve.v1", "compensation": {"handler": "stock.release.v1"}}]


def test_parallel_as_a_block() -> None:
    block, names = cairn.Workflow("w"), cairn.Workflow("w")
    with block.parallel("g"):
        block.step("a")
        block.step("b")
    names.parallel("g", "a", "b")
    for wf in (block, names):
        wf.step("after")
    assert block.text() == names.text()


def test_only_steps_stand_in_parallel() -> None:
    wf = cairn.Workflow("w")
    with wf.parallel("g"):
        wf.step("a", handler="a.v1", max_attempts=5)
        wf.sleep("nap", "1s")
    with pytest.raises(cairn.BadInput, match="only steps may stand in parallel, not a sleep"):
        wf.text()
    wf = cairn.Workflow("w")
    with wf.parallel("g"):
        pass
    with pytest.raises(cairn.BadInput, match="steps is empty"):
        wf.text()
