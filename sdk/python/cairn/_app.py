# SPDX-License-Identifier: Apache-2.0
"""The registry of handlers."""

from __future__ import annotations

from typing import Any, Callable, ContextManager, Dict, Iterator, List, Literal, Optional, Tuple, Type

from cairn import errors
from cairn._rows import OutboxEvent
from cairn._task import Task
from cairn._types import FunctionDecorator, FunctionType, TaskDecorator, TaskType

MOST_TYPES = 100  # in one claim

Outbox = Callable[[OutboxEvent], Any]
Around = Callable[[Task], ContextManager[Any]]
Lifespan = Callable[[], Iterator[Any]]


class App:
    """Handlers of tasks, functions and the outbox.  It is bound to no engine: they meet in a worker.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.task("text.upper.v1")
    ... def upper(text: str) -> str:
    ...     return text.upper()
    >>> with cairn.open("memory:") as db:
    ...     job = db.enqueue(upper, "hello")
    ...     db.work(app, until_idle=True)
    ...     job.result()
    1
    'HELLO'
    """

    def __init__(self) -> None:
        self.tasks: Dict[str, TaskType[Any, Any]] = {}
        self.functions: Dict[Tuple[str, int], FunctionType[Any, Any]] = {}
        self.outbox_handler: Optional[Outbox] = None
        self.arounds: List[Around] = []
        self.lifespan_handler: Optional[Lifespan] = None

    def task(self, type: str, *, dead_on: Tuple[Type[BaseException], ...] = ()) -> TaskDecorator:
        """Registers a handler for a type, or for a prefix that ends in ``%``.

        An exact type is preferred to a prefix, and a longer prefix to a shorter one.  The handler is
        ``fn()``, ``fn(payload)``, ``fn(task, payload)`` or ``fn(task: Task)``, ``def`` or ``async def``.
        An error of one of the classes ``dead_on`` is not retried.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.task("mail.%", dead_on=(KeyError,))
        ... async def mail(task: cairn.Task, payload: dict) -> None:
        ...     print(task.type, payload["to"])
        >>> mail.type
        'mail.%'
        """
        _check_pattern(type)

        def register(fn: Callable[..., Any]) -> TaskType[Any, Any]:
            made: TaskType[Any, Any] = TaskType(type, fn, dead_on)
            self._add_task(made)
            return made

        return register

    def function(self, name: str, *, version: int = 1, from_version: Optional[int] = None,
                 commit: Literal["step", "passage"] = "step", max_attempts: int = 3,
                 dlq: bool = False) -> FunctionDecorator:
        """Registers the code of a durable function, ``fn(ctx)`` or ``fn(ctx, input)``.

        Instances of the versions from ``from_version`` to ``version`` are given to it.  With
        ``commit="passage"`` all steps of a run are committed at its end: faster, but a crash repeats them.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.function("double")
        ... def double(ctx: cairn.Context, n: int) -> int:
        ...     return ctx.step("double", lambda: n * 2)
        >>> with cairn.open("memory:") as db:
        ...     run = db.start(double, 21)
        ...     _ = db.work(app, until_idle=True)
        ...     run.result()
        42
        """

        def register(fn: Callable[..., Any]) -> FunctionType[Any, Any]:
            made: FunctionType[Any, Any] = FunctionType(
                name, fn, version=version, from_version=from_version, commit=commit, max_attempts=max_attempts, dlq=dlq)
            self._add_function(made)
            return made

        return register

    def outbox(self, fn: Outbox) -> Outbox:
        """Registers the function that delivers events of the outbox; each is acknowledged when it returns.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.task("ship")
        ... def ship(task: cairn.Task, order: dict) -> None:
        ...     task.emit("shipped", {"parcel": 7})
        >>> @app.outbox
        ... def deliver(event: cairn.OutboxEvent) -> None:
        ...     print(event.event, event.payload)
        >>> with cairn.open("memory:") as db:
        ...     _ = db.deploy("{workflow: order, version: 1, steps: [{step: ship}]}")
        ...     _ = db.start("order")
        ...     _ = db.work(app, until_idle=True)
        shipped {'parcel': 7}
        """
        if self.outbox_handler is not None:
            raise errors.Misuse("this app has an outbox handler already")
        self.outbox_handler = fn
        return fn

    def around(self, fn: Around) -> Around:
        """Registers a context manager around each call of a handler or function; the first is the outermost.

        >>> import cairn, contextlib
        >>> app = cairn.App()
        >>> @app.around
        ... @contextlib.contextmanager
        ... def timed(task):
        ...     print("before", task.type)
        ...     yield
        ...     print("after")
        >>> @app.task("noop.v1")
        ... def noop() -> None: ...
        >>> with cairn.open("memory:") as db:
        ...     _ = db.enqueue(noop)
        ...     _ = db.work(app, until_idle=True)
        before noop.v1
        after
        """
        self.arounds.append(fn)
        return fn

    def lifespan(self, fn: Lifespan) -> Lifespan:
        """Registers a generator that runs before the first claim and ends after the last handler.

        What it yields is ``task.state``.  A worker that is given a ``state`` does not run it.

        >>> import cairn
        >>> app = cairn.App()
        >>> @app.lifespan
        ... def connect():
        ...     print("connect")
        ...     yield {"rate": 2}
        ...     print("disconnect")
        >>> @app.task("convert.v1")
        ... def convert(task: cairn.Task, amount: int) -> int:
        ...     return amount * task.state["rate"]
        >>> with cairn.open("memory:") as db:
        ...     job = db.enqueue(convert, 21)
        ...     _ = db.work(app, until_idle=True)
        ...     job.result()
        connect
        disconnect
        42
        """
        if self.lifespan_handler is not None:
            raise errors.Misuse("this app has a lifespan already")
        self.lifespan_handler = fn
        return fn

    def include(self, other: "App") -> None:
        """Takes over everything that is registered with another app.  A type known twice is Misuse.

        >>> import cairn
        >>> mail, app = cairn.App(), cairn.App()
        >>> @mail.task("mail.send.v1")
        ... def send() -> None: ...
        >>> app.include(mail)
        >>> app.include(mail)
        Traceback (most recent call last):
            ...
        cairn.errors.Misuse: task type "mail.send.v1" has a handler already
        """
        for task in other.tasks.values():
            self._add_task(task)
        for function in other.functions.values():
            self._add_function(function)
        if other.outbox_handler is not None:
            self.outbox(other.outbox_handler)
        if other.lifespan_handler is not None:
            self.lifespan(other.lifespan_handler)
        self.arounds.extend(other.arounds)

    # ---- for workers

    def find(self, type: str) -> Optional[TaskType[Any, Any]]:
        """The handler of a type: exact, else the longest prefix."""
        found = self.tasks.get(type)
        if found is not None:
            return found
        fits = [pattern for pattern in self.tasks if pattern.endswith("%") and type.startswith(pattern[:-1])]
        return self.tasks[max(fits, key=len)] if fits else None

    def find_function(self, name: str, version: int) -> Optional[FunctionType[Any, Any]]:
        """The code for an instance: its own version, else the highest that accepts it."""
        exact = self.functions.get((name, version))
        if exact is not None:
            return exact
        fits = [one for (known, _), one in self.functions.items()
                if known == name and one.from_version <= version <= one.version]
        return max(fits, key=lambda one: one.version) if fits else None

    def patterns(self) -> List[str]:
        """The types to claim, without those that a prefix covers."""
        prefixes = [pattern[:-1] for pattern in self.tasks if pattern.endswith("%")]

        def is_covered(pattern: str) -> bool:
            bare = pattern[:-1] if pattern.endswith("%") else None
            return any(prefix != bare and pattern.startswith(prefix) for prefix in prefixes)

        left = [pattern for pattern in self.tasks if not is_covered(pattern)]
        if len(left) > MOST_TYPES:
            raise errors.Misuse(f"the app has {len(left)} types; a worker can claim {MOST_TYPES}",
                                hint='register a prefix, such as "billing.%", that covers several of them')
        if len(self.functions) > MOST_TYPES:
            raise errors.Misuse(f"the app has {len(self.functions)} functions; a worker can claim {MOST_TYPES}")
        return left

    def _add_task(self, task: TaskType[Any, Any]) -> None:
        if task.type in self.tasks:
            raise errors.Misuse(f'task type "{task.type}" has a handler already')
        self.tasks[task.type] = task

    def _add_function(self, function: FunctionType[Any, Any]) -> None:
        key = (function.name, function.version)
        if key in self.functions:
            raise errors.Misuse(f'function "{function.name}", version {function.version}, is registered already')
        self.functions[key] = function


def _check_pattern(type: str) -> None:
    if not isinstance(type, str) or not type:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError('a type is a text such as "billing.invoice.v1"')
    if "%" in type[:-1]:
        raise ValueError(f'type {type!r} is not a pattern: "%" may stand only at the end')
