# SPDX-License-Identifier: Apache-2.0
"""Spans around handlers, and links to the spans that enqueued."""

from typing import Any, List

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import cairn
import cairn.otel
from cairn.testing import Environment


@pytest.fixture
def spans() -> Any:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    class Spans:
        tracer_provider = provider

        def finished(self) -> List[Any]:
            return list(exporter.get_finished_spans())

    return Spans()


def run(app: cairn.App, *specs: cairn.JobSpec) -> None:
    with Environment() as env:
        env.db.enqueue_many(specs)
        env.work(app)


def test_a_span_for_each_call(spans: Any) -> None:
    app, seen = cairn.App(), []
    cairn.otel.instrument(app, spans.tracer_provider)

    @app.task("mail.v1")
    def mail(task: cairn.Task, payload: Any) -> None:
        seen.append((task.id, trace.get_current_span().get_span_context().span_id))

    run(app, cairn.JobSpec(mail, key="k"), cairn.JobSpec(mail))
    first, second = spans.finished()
    assert first.name == second.name == "run mail.v1" and first.kind is trace.SpanKind.CONSUMER
    assert [(span.attributes["cairn.task"], span.context.span_id) for span in (first, second)] == seen
    assert first.attributes["cairn.key"] == "k" and "cairn.key" not in second.attributes
    assert first.attributes["cairn.type"] == "mail.v1" and first.attributes["cairn.attempt"] == 1
    assert first.attributes["cairn.kind"] == "job" and first.attributes["cairn.worker"]
    assert first.status.status_code is trace.StatusCode.UNSET and not first.links


def test_exceptions_are_recorded(spans: Any) -> None:
    app = cairn.App()
    cairn.otel.instrument(app, spans.tracer_provider)

    @app.task("fails.v1")
    def fails() -> None:
        raise KeyError("name")

    @app.task("waits.v1")
    def waits() -> None:
        raise cairn.Release(after="1h")

    run(app, cairn.JobSpec(fails), cairn.JobSpec(waits))
    by_name = {span.name: span for span in spans.finished()}
    failed, waiting = by_name["run fails.v1"], by_name["run waits.v1"]
    assert failed.status.status_code is trace.StatusCode.ERROR and failed.status.description == "KeyError: 'name'"
    assert [event.name for event in failed.events] == ["exception"]
    assert waiting.status.status_code is trace.StatusCode.UNSET and not waiting.events


def test_a_link_and_not_a_parent(spans: Any) -> None:
    app = cairn.App()
    cairn.otel.instrument(app, spans.tracer_provider)

    @app.task("mail.v1")
    def mail() -> None: ...

    with spans.tracer_provider.get_tracer("web").start_as_current_span("request") as request:
        metadata = cairn.otel.metadata()
        assert request.get_span_context().is_valid and "traceparent" in metadata
    run(app, cairn.JobSpec(mail, metadata=metadata))
    span = next(span for span in spans.finished() if span.name == "run mail.v1")
    (link,) = span.links
    assert link.context.span_id == request.get_span_context().span_id
    assert span.parent is None and span.context.trace_id != link.context.trace_id


def test_metadata_that_is_no_trace(spans: Any) -> None:
    app = cairn.App()
    cairn.otel.instrument(app, spans.tracer_provider)

    @app.task("mail.v1")
    def mail() -> None: ...

    run(app, cairn.JobSpec(mail, metadata={"traceparent": "nonsense", "n": 1}), cairn.JobSpec(mail, metadata={"a": "b"}))
    assert [list(span.links) for span in spans.finished()] == [[], []]


def test_steps_and_functions(spans: Any) -> None:
    app = cairn.App()
    cairn.otel.instrument(app, spans.tracer_provider)

    @app.function("order")
    def order(ctx: cairn.Context, n: int) -> int:
        ctx.sleep("1h")
        return ctx.step("double", lambda: n * 2)

    with Environment() as env:
        started = env.db.start(order, 21)
        env.run(app, until=started)
        assert started.result() == 42
    passages = spans.finished()
    assert [span.name for span in passages] == ["run order", "run order"]
    assert all(span.attributes["cairn.instance"] == started.id for span in passages)
    assert all(span.status.status_code is trace.StatusCode.UNSET for span in passages)


def test_no_span_no_metadata() -> None:
    assert cairn.otel.metadata() == {}
