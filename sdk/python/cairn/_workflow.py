# SPDX-License-Identifier: Apache-2.0
"""Workflows that are put together in code.  The text is the same as a file's, and so is its hash."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, ContextManager, Dict, Generator, List, Literal, Optional, Tuple, Union, overload

from cairn import _check
from cairn._errors import Misuse
from cairn._words import UNSET, Duration, Json, Unset, duration_text, to_ms

if TYPE_CHECKING:
    from cairn import TaskType

Kind = Literal["fixed", "linear", "exponential", "quadratic"]
Element = Dict[str, Any]


class Backoff:
    """How long to wait before the next call of a step that has failed.

    After n failed calls the delay is ``base`` (fixed), ``base * n`` (linear), ``base * 2**(n-1)``
    (exponential) or ``base * n**2`` (quadratic), at most ``max``.  ``jitter`` is the part of the delay
    that is added at random, from 0 to 1.

    >>> Backoff("fixed", base="10s")
    Backoff('fixed', base='10s')
    >>> Backoff("exponential", "1s", "1m", jitter=0.1)
    Backoff('exponential', base='1s', max='1m', jitter=0.1)
    """

    kind: str
    base: Duration
    max: Optional[Duration]
    jitter: float

    def __init__(self, kind: Kind, base: Duration = "1s", max: Optional[Duration] = None,
                 jitter: float = 0.0) -> None:
        if kind not in ("fixed", "linear", "exponential", "quadratic"):
            raise ValueError(f"a backoff is fixed, linear, exponential or quadratic, not {kind!r}")
        if not 0 <= jitter <= 1:
            raise ValueError(f"jitter is from 0 to 1, not {jitter}")
        to_ms(base)
        if max is not None:
            to_ms(max)
        self.kind, self.base, self.max, self.jitter = kind, base, max, jitter

    def __repr__(self) -> str:
        parts = [repr(self.kind), f"base={self.base!r}"]
        parts += [f"max={self.max!r}"] if self.max is not None else []
        parts += [f"jitter={self.jitter}"] if self.jitter else []
        return f"Backoff({', '.join(parts)})"

    def _fields(self) -> Dict[str, Any]:
        """The fields of ``retry`` in a workflow file, without those that have their default."""
        base, longest = to_ms(self.base), 300_000 if self.max is None else to_ms(self.max)
        fields: Dict[str, Any] = {}
        if self.kind != "exponential":
            fields["backoff"] = self.kind
        if base != 1000:
            fields["base"] = duration_text(self.base)
        if self.max is not None and longest != max(base, 300_000):
            fields["max"] = duration_text(self.max)
        if self.jitter:
            fields["jitter"] = self.jitter
        return fields

    def members(self) -> Dict[str, Any]:
        """All four, as ``retry`` of a job has them.

        >>> Backoff("fixed", base="10s").members()
        {'backoff': 'fixed', 'base_ms': 10000, 'max_ms': 300000, 'jitter': 0.0}
        """
        base = to_ms(self.base)
        longest = max(base, 300_000) if self.max is None else to_ms(self.max)
        return {"backoff": self.kind, "base_ms": base, "max_ms": longest, "jitter": self.jitter}


class Compensation:
    """The task that undoes a step, with its own retries and time limit.

    >>> Compensation("billing.refund.v1", max_attempts=10, timeout="30s").handler
    'billing.refund.v1'
    """

    handler: str
    max_attempts: int
    retry: Optional[Backoff]
    timeout: Optional[Duration]
    idempotent: bool
    metadata: Optional[Dict[str, Any]]

    def __init__(self, handler: "Union[str, TaskType[Any, Any]]", *, max_attempts: int = 3,
                 retry: Optional[Backoff] = None, timeout: Optional[Duration] = None, idempotent: bool = True,
                 metadata: Optional[Dict[str, Any]] = None) -> None:
        self.handler = str(handler)
        self.max_attempts = max_attempts
        self.retry = retry
        self.timeout = timeout
        self.idempotent = idempotent
        self.metadata = metadata

    def __repr__(self) -> str:
        return f"Compensation({self.handler!r})"

    def _fields(self) -> Dict[str, Any]:
        return {"handler": self.handler, **_options(self.max_attempts, self.retry, self.timeout, self.idempotent),
                **_optional(metadata=self.metadata)}


def _optional(**fields: Any) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _given(**fields: Json) -> Dict[str, Any]:
    """The same, of values that may be None."""
    return {name: value for name, value in fields.items() if not isinstance(value, Unset)}


def _undo(compensation: "Union[None, str, TaskType[Any, Any], Compensation]") -> Optional[Dict[str, Any]]:
    if compensation is None:
        return None
    if not isinstance(compensation, Compensation):
        compensation = Compensation(compensation)
    return compensation._fields()  # pyright: ignore[reportPrivateUsage]


def _options(max_attempts: int, retry: Optional[Backoff], timeout: Optional[Duration],
             idempotent: bool) -> Dict[str, Any]:
    """What a step and a compensation have in common, without defaults."""
    fields: Dict[str, Any] = {}
    if max_attempts != 3:
        fields["max_attempts"] = max_attempts
    retry_fields = retry._fields() if retry else {}  # pyright: ignore[reportPrivateUsage]
    if retry_fields:
        fields["retry"] = retry_fields
    if timeout is not None:
        fields["timeout"] = duration_text(timeout)
    if not idempotent:
        fields["idempotent"] = False
    return fields


class Condition:
    """The two lists of a condition; ``Workflow.condition()`` gives one."""

    def __init__(self, workflow: "Workflow", element: Element) -> None:
        self._workflow = workflow
        self._element = element

    def then(self) -> "contextlib.AbstractContextManager[None]":
        """The elements that follow if the condition is true."""
        return self._list("then")

    def otherwise(self) -> "contextlib.AbstractContextManager[None]":
        """The elements that follow if it is false."""
        return self._list("else")

    @contextlib.contextmanager
    def _list(self, key: str) -> Generator[None, None, None]:
        if key in self._element:
            raise Misuse(f"condition {self._element['condition']!r} has its {key!r} list already")
        self._element[key] = []
        with self._workflow._inside(self._element[key], self):  # pyright: ignore[reportPrivateUsage]
            yield


class Fork:
    """The branches of a fork; ``Workflow.fork()`` gives one."""

    def __init__(self, workflow: "Workflow", element: Element) -> None:
        self._workflow = workflow
        self._element = element

    @contextlib.contextmanager
    def branch(self) -> Generator[None, None, None]:
        """The elements of one more branch."""
        elements: List[Element] = []
        self._element["branches"].append(elements)
        with self._workflow._inside(elements, self):  # pyright: ignore[reportPrivateUsage]
            yield


class Workflow:
    """A workflow that is put together in code, for ``Engine.deploy()``.

    Elements go where the innermost open ``with`` says.

    >>> import cairn
    >>> wf = cairn.Workflow("order", version=2)
    >>> wf.step("reserve", "stock.reserve.v1", compensation="stock.release.v1")
    >>> with wf.condition("in_stock", "{{ gt .count 0 }}") as stock:
    ...     with stock.then():
    ...         wf.step("pick")
    >>> wf.human("approval", timeout="3d")
    >>> wf.text()
    ... # doctest: +ELLIPSIS
    '{"workflow":"order","version":2,"steps":[{"step":"reserve","handler":"stock.reserve.v1",...
    """

    name: str
    version: int

    def __init__(self, name: str, *, version: int = 1, dlq: bool = False) -> None:
        self.name = name
        self.version = version
        self._dlq = dlq
        self._input: Dict[str, Any] = {}
        self._steps: List[Element] = []
        # The list that is open, and what opened it: None for the workflow itself, and for the body of
        # a condition or fork outside of its lists, where nothing may be added.
        self._open: List[Tuple[Optional[List[Element]], Any]] = [(self._steps, None)]

    def input(self, *, schema: Optional[Dict[str, Any]] = None, example: Any = None) -> None:
        """What instances are started with, for the page's form and for people.

        >>> import cairn
        >>> wf = cairn.Workflow("mail")
        >>> wf.input(schema={"type": "object", "properties": {"to": {"type": "string"}}}, example={"to": "ada"})
        >>> wf.step("send")
        >>> wf.text()
        ... # doctest: +ELLIPSIS
        '{"workflow":"mail","version":1,"input":{"schema":{"type":"object",...
        """
        self._input = _optional(schema=schema, example=example)

    def step(self, name: str, handler: "Union[None, str, TaskType[Any, Any]]" = None, *, max_attempts: int = 3,
             retry: Optional[Backoff] = None, timeout: Optional[Duration] = None, idempotent: bool = True,
             priority: int = 50, on_failure: Optional[str] = None,
             compensation: "Union[None, str, TaskType[Any, Any], Compensation]" = None,
             input: Json = UNSET, output: Json = UNSET, metadata: Optional[Dict[str, Any]] = None,
             group: Optional[str] = None) -> None:
        """A call of a handler; without ``handler`` its type is the name of the step.

        ``input`` makes what the handler is given, ``output`` what goes on from its answer: JSON whose strings may hold
        expressions, such as ``{"to": "{{ $.input.email }}"}``.  ``group`` may hold some, too: ``"{{ .tenant }}"``;
        without it the step has the group of its instance.

        >>> import cairn
        >>> wf = cairn.Workflow("mail")
        >>> wf.step("send", max_attempts=5, retry=cairn.Backoff("fixed", "1m"), timeout="30s")
        >>> wf.text()
        ... # doctest: +ELLIPSIS
        '...{"step":"send","max_attempts":5,"retry":{"backoff":"fixed","base":"1m"},"timeout":"30s"}]}'
        >>> wf = cairn.Workflow("shop")
        >>> wf.step("charge", output={"card": "{{ .card.id }}"})
        >>> wf.step("mail", input={"to": "{{ $.input.email }}", "card": "{{ $.steps.charge.output.card }}"})
        >>> wf.text()
        ... # doctest: +ELLIPSIS
        '...{"step":"charge","output":{"card":"{{ .card.id }}"}},{"step":"mail","input":{"to":"{{ $.input.email }}",...
        """
        element: Element = {"step": name}
        if handler is not None and str(handler) != name:
            element["handler"] = str(handler)
        element.update(_options(max_attempts, retry, timeout, idempotent))
        if priority != 50:
            element["priority"] = priority
        self._add({**element, **_optional(on_failure=on_failure, compensation=_undo(compensation)),
                   **_given(input=input, output=output), **_optional(group=group, metadata=metadata)})

    def start(self, name: str, workflow: str, *, version: Optional[int] = None, input: Any = None,
              key: Optional[str] = None, tags: Optional[Dict[str, str]] = None, wait: bool = True,
              on_failure: Optional[str] = None, compensation: "Union[None, str, TaskType[Any, Any], Compensation]" = None,
              metadata: Optional[Dict[str, Any]] = None, group: Optional[str] = None) -> None:
        """Starts an instance of another workflow and waits for its end, unless ``wait`` is false.  Without ``input`` the
        child gets the data that arrives at the step.

        >>> import cairn
        >>> wf = cairn.Workflow("order")
        >>> wf.start("bill", "billing", version=2, tags={"team": "red"})
        >>> wf.text()
        ... # doctest: +ELLIPSIS
        '...[{"start":"bill","workflow":"billing","version":2,"tags":{"team":"red"}}]}'
        """
        element: Element = {"start": name, "workflow": workflow,
                            **_optional(version=version, input=input, key=key, tags=tags or None)}
        if not wait:
            element["wait"] = False
        self._add({**element, **_optional(on_failure=on_failure, compensation=_undo(compensation),
                                          group=group, metadata=metadata)})

    @contextlib.contextmanager
    def map(self, name: str, over: str, *, max_parallel: int = 20, join: "Union[Literal['all', 'any'], int]" = "all",
            collect: bool = True, on_failure: Optional[str] = None,
            compensation: "Union[None, str, TaskType[Any, Any], Compensation]" = None,
            metadata: Optional[Dict[str, Any]] = None, group: Optional[str] = None,
            input: Json = UNSET) -> Generator[None, None, None]:
        """The elements inside are done for each element of the list that ``over`` yields; ``join`` may be a number: so
        many must complete. ``input`` makes what ``over`` is given.

        >>> import cairn
        >>> wf = cairn.Workflow("news")
        >>> with wf.map("mail_all", "{{ .readers }}", max_parallel=50, join=1):
        ...     wf.step("send")
        >>> wf.text()
        ... # doctest: +ELLIPSIS
        '...{"map":"mail_all","over":"{{ .readers }}","steps":[{"step":"send"}],"max_parallel":50,"join":{"at_least":1}}]}'
        """
        steps: List[Element] = []
        element: Element = {"map": name, "over": over, "steps": steps}
        if max_parallel != 20:
            element["max_parallel"] = max_parallel
        if join != "all":
            element["join"] = {"at_least": join} if isinstance(join, int) else join
        if not collect:
            element["collect"] = False
        self._add({**element, **_optional(on_failure=on_failure, compensation=_undo(compensation)),
                   **_given(input=input), **_optional(group=group, metadata=metadata)})
        with self._among(steps):
            yield

    def save_point(self, name: str) -> None:
        """A rollback stops here.

        >>> import cairn
        >>> wf = cairn.Workflow("order")
        >>> wf.step("pay"); wf.save_point("paid"); wf.step("ship")
        """
        self._add({"save_point": name})

    @contextlib.contextmanager
    def condition(self, name: str, when: str) -> Generator[Condition, None, None]:
        """Takes one of two lists; ``when`` is an expression such as ``{{ gt .count 0 }}``.

        >>> import cairn
        >>> wf = cairn.Workflow("order")
        >>> with wf.condition("in_stock", "{{ gt .count 0 }}") as stock:
        ...     with stock.then():
        ...         wf.step("pick")
        ...     with stock.otherwise():
        ...         wf.step("restock")
        """
        element: Element = {"condition": name, "when": when}
        self._add(element)
        condition = Condition(self, element)
        with self._inside(None, condition):
            yield condition

    @contextlib.contextmanager
    def fork(self, name: str, *, join: Optional[Literal["all", "any"]] = "all") -> Generator[Fork, None, None]:
        """Runs branches side by side.

        >>> import cairn
        >>> wf = cairn.Workflow("order")
        >>> with wf.fork("fulfilment", join="all") as fork:
        ...     with fork.branch():
        ...         wf.step("ship")
        ...     with fork.branch():
        ...         wf.step("invoice")
        """
        element: Element = {"fork": name, **_optional(join=join), "branches": []}
        self._add(element)
        fork = Fork(self, element)
        with self._inside(None, fork):
            yield fork

    @overload
    def parallel(self, name: str) -> ContextManager[None]: ...

    @overload
    def parallel(self, name: str, step: str, *steps: str) -> None: ...

    def parallel(self, name: str, step: Optional[str] = None, *steps: str) -> Optional[ContextManager[None]]:
        """Runs single steps side by side and waits for all: those inside of ``with``, or of these names, which are their
        handlers, too.  Anything but a step inside is a mistake, which ``text()`` tells.

        >>> import cairn
        >>> wf = cairn.Workflow("news")
        >>> wf.parallel("tell", "mail", "sms")
        >>> with wf.parallel("print"):
        ...     wf.step("paper", max_attempts=5)
        ...     wf.step("poster", "print.poster.v1")
        """
        elements: List[Element] = [{"step": one} for one in (step, *steps) if one is not None]
        self._add({"parallel": name, "steps": elements})
        return self._among(elements) if step is None else None

    @contextlib.contextmanager
    def _among(self, elements: List[Element]) -> Generator[None, None, None]:
        self._open.append((elements, None))
        try:
            yield
        finally:
            self._open.pop()

    def human(self, name: str, *, timeout: Optional[Duration] = None, on_timeout: str = "fail",
              on_failure: Optional[str] = None, input: Json = UNSET) -> None:
        """Waits for a decision: ``InstanceHandle.confirm()`` or ``reject()``.  ``input`` is as in ``step()``.

        >>> import cairn
        >>> wf = cairn.Workflow("leave")
        >>> wf.human("approval", timeout="3d", on_timeout="continue")
        """
        self._add({"human": name, **self._timeout(timeout, on_timeout), **_optional(on_failure=on_failure),
                   **_given(input=input)})

    def wait(self, name: str, *, event: str, timeout: Optional[Duration] = None, on_timeout: str = "fail",
             on_failure: Optional[str] = None, input: Json = UNSET) -> None:
        """Waits for a signal.  ``input`` is as in ``step()``.

        >>> import cairn
        >>> wf = cairn.Workflow("payment")
        >>> wf.wait("settled", event="payment.settled", timeout="1h")
        """
        self._add({"wait": name, "event": event, **self._timeout(timeout, on_timeout),
                   **_optional(on_failure=on_failure), **_given(input=input)})

    def sleep(self, name: str, duration: Duration) -> None:
        """Waits for some time, without a worker.

        >>> import cairn
        >>> wf = cairn.Workflow("trial")
        >>> wf.sleep("cool_off", "10m")
        """
        self._add({"sleep": name, "for": duration_text(duration)})

    def text(self) -> str:
        """The workflow as JSON, which is also a workflow file.  BadInput tells all that is wrong.

        >>> import cairn
        >>> wf = cairn.Workflow("order")
        >>> wf.step("pay"); wf.step("pay")
        >>> wf.text()
        Traceback (most recent call last):
            ...
        cairn.errors.BadInput: workflow "order": step "pay": the name is already used in line 1
        """
        text = self._document()
        _check.raise_flaws(f'workflow "{self.name}"', text)
        return text

    def draw(self, form: Literal["terminal", "dot", "mermaid"] = "terminal") -> str:
        """A picture: for the terminal, for Graphviz or for Mermaid.

        >>> import cairn
        >>> wf = cairn.Workflow("mail")
        >>> wf.step("send")
        >>> "send" in wf.draw()
        True
        """
        return _check.draw(self.text(), form)

    def _document(self) -> str:
        document: Dict[str, Any] = {"workflow": self.name, "version": self.version}
        if self._dlq:
            document["dlq"] = True
        if self._input:
            document["input"] = self._input
        document["steps"] = self._steps
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _add(self, element: Element) -> None:
        elements, owner = self._open[-1]
        if elements is None:
            where = "then() or otherwise()" if isinstance(owner, Condition) else "branch()"
            raise Misuse(f"elements inside of a {type(owner).__name__.lower()} go into its {where}")
        elements.append(element)

    @contextlib.contextmanager
    def _inside(self, elements: Optional[List[Element]], owner: Any) -> Generator[None, None, None]:
        if elements is not None and self._open[-1] != (None, owner):
            raise Misuse(f"this {type(owner).__name__.lower()} is not the innermost one that is open")
        self._open.append((elements, owner))
        try:
            yield
        finally:
            self._open.pop()

    @staticmethod
    def _timeout(timeout: Optional[Duration], on_timeout: str) -> Dict[str, Any]:
        fields: Dict[str, Any] = {}
        if timeout is not None:
            fields["timeout"] = duration_text(timeout)
        if on_timeout != "fail":
            fields["on_timeout"] = on_timeout
        return fields
