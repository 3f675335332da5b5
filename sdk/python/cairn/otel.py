# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry: a span around each call of a handler.

It needs ``opentelemetry-api`` (the extra ``otel``) and uses nothing but ``App.around``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Dict, Generator, List, Optional

from cairn import errors
from cairn._errors import text_of

if TYPE_CHECKING:
    from cairn import App, Task

# What a handler raises to say how its task goes on, and no error.
_NO_ERRORS = (errors.Suspended, errors.Stopped, errors.Release, errors.WaitFor)


def metadata() -> Dict[str, str]:
    """The current trace, for ``enqueue(metadata=...)`` and ``start(metadata=...)``.

    Empty without a span.  The span of the handler then has a link to the span that enqueued the job.

    >>> import cairn, cairn.otel
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue("mail.v1", metadata=cairn.otel.metadata())
    """
    from opentelemetry import propagate

    carrier: Dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


def instrument(app: "App", tracer_provider: Optional[Any] = None) -> None:
    """Adds a span ``run TYPE`` around each call of a handler or function of this app.

    The span has the attributes ``cairn.task``, ``cairn.kind``, ``cairn.type``, ``cairn.attempt``,
    ``cairn.worker`` and, where they exist, ``cairn.key``, ``cairn.instance`` and ``cairn.step``.
    Exceptions are recorded.  If the task's metadata has a ``traceparent``, the span is linked to it: a
    job may run long after, and more than once, so the producer's span is not its parent.

    >>> import cairn, cairn.otel
    >>> app = cairn.App()
    >>> cairn.otel.instrument(app)
    """
    from opentelemetry import trace

    from cairn._version import __version__

    tracer = trace.get_tracer("cairn", __version__, tracer_provider)

    @contextlib.contextmanager
    def span(task: "Task") -> Generator[None, None, None]:
        with tracer.start_as_current_span(f"run {task.type}", kind=trace.SpanKind.CONSUMER,
                                          attributes=_attributes(task), links=_links(task),
                                          record_exception=False, set_status_on_exception=False) as current:
            try:
                yield
            except _NO_ERRORS:
                raise
            except BaseException as error:
                current.record_exception(error)
                current.set_status(trace.Status(trace.StatusCode.ERROR, text_of(error)))
                raise

    app.around(span)


def _attributes(task: "Task") -> Dict[str, Any]:
    values: Dict[str, Any] = {
        "task": task.id, "kind": task.kind, "type": task.type, "attempt": task.attempt, "worker": task.worker,
        "key": task.key, "instance": task.instance_id, "step": task.step}
    return {f"cairn.{name}": value for name, value in values.items() if value is not None}


def _links(task: "Task") -> List[Any]:
    from opentelemetry import propagate, trace

    if not task.metadata or "traceparent" not in task.metadata:
        return []
    carrier = {name: value for name, value in task.metadata.items() if isinstance(value, str)}
    producer = trace.get_current_span(propagate.extract(carrier)).get_span_context()
    return [trace.Link(producer)] if producer.is_valid else []
