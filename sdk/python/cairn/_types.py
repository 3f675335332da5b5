# SPDX-License-Identifier: Apache-2.0
"""Task types, function types, and how their code is called."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import (
    TYPE_CHECKING, Any, Callable, Coroutine, Dict, Generic, Iterable, List, Optional, Protocol, Tuple, Type, TypeVar,
    Union, overload,
)

from cairn import errors
from cairn._words import UNSET, Duration, Json, OnExisting, Time

if TYPE_CHECKING:
    from cairn._function import AsyncContext, Context
    from cairn._task import Task
    from cairn._workflow import Backoff

P = TypeVar("P")
R = TypeVar("R")
I = TypeVar("I")
O = TypeVar("O")


class Undo(Generic[I, O]):
    """What a compensation gets: the input and the output of the step that it undoes.

    ``output`` is None if the step had not completed; then annotate ``Undo[I, Optional[O]]``.

    >>> Undo({"to": "Lisbon"}, {"seat": "12A"}).output["seat"]
    '12A'
    """

    input: I
    output: O

    def __init__(self, input: I, output: O) -> None:
        self.input = input
        self.output = output

    def __repr__(self) -> str:
        return f"Undo(input={self.input!r}, output={self.output!r})"


class Signature:
    """What a function takes and gives, read once from its parameters and annotations."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.name = getattr(fn, "__qualname__", None) or repr(fn)
        self.is_async = is_async(fn)
        self.hints = _hints(fn)
        self.parameters = [one for one in inspect.signature(fn).parameters.values() if one.kind in (
            inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)]

    def type_of(self, index: int) -> Any:
        """The annotation of a parameter; Any if it has none."""
        name = self.parameters[index].name
        found = self.hints.get(name, Any)
        if isinstance(found, _Unknown):
            raise errors.Misuse(f"cannot read the annotation of {name!r} in {self.name}(): {found.why}",
                                hint="define the class at the top of a module, and import it when the module is run")
        return found

    @property
    def result(self) -> Any:
        """The annotation of what it returns; Any if it has none."""
        found = self.hints.get("return", Any)
        return Any if isinstance(found, _Unknown) else found


class _Unknown:
    """An annotation that cannot be evaluated."""

    def __init__(self, why: BaseException) -> None:
        self.why = errors_text(why)


def errors_text(error: BaseException) -> str:
    """``TypeName: text``, or the name alone."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether a call gives a coroutine."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if isinstance(fn, (TaskType, FunctionType)):
        return is_async(fn.fn)
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))


def _hints(fn: Any) -> Dict[str, Any]:
    while isinstance(fn, functools.partial):
        fn = fn.func
    if isinstance(fn, (TaskType, FunctionType)):
        fn = fn.fn
    if not hasattr(fn, "__annotations__"):
        fn = getattr(fn, "__call__", fn)
    try:
        return typing.get_type_hints(fn)
    except Exception:  # one annotation that cannot be read leaves the others as they are
        return {name: _hint(fn, name) for name in getattr(fn, "__annotations__", {})}


def _hint(fn: Any, name: str) -> Any:
    probe = type("probe", (), {"__annotations__": {name: fn.__annotations__[name]}})
    inner = inspect.unwrap(fn)
    code: Any = getattr(inner, "__code__", None)
    cells: Any = getattr(inner, "__closure__", None) or ()
    try:
        local: Dict[str, Any] = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells)}
        return typing.get_type_hints(probe, getattr(inner, "__globals__", None), local)[name]
    except Exception as error:
        return _Unknown(error)


class TaskType(Generic[P, R]):
    """A handler and the type of the tasks that it executes; made by ``App.task``.

    It can be called like the plain function, and is what ``enqueue`` and others take.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.task("text.upper.v1")
    ... def upper(text: str) -> str:
    ...     return text.upper()
    >>> upper("a"), upper.type, str(upper)
    ('A', 'text.upper.v1', 'text.upper.v1')
    """

    type: str
    fn: Callable[..., Any]
    dead_on: Tuple[Type[BaseException], ...]

    def __init__(self, type: str, fn: Callable[..., Any], dead_on: Tuple[Type[BaseException], ...] = ()) -> None:
        self.type = type
        self.fn = fn
        self.dead_on = tuple(dead_on)
        functools.update_wrapper(self, fn, updated=())

    @functools.cached_property
    def signature(self) -> Signature:
        """What the handler takes and gives."""
        return Signature(self.fn)

    @property
    def result_type(self) -> Any:
        """The annotation of its result."""
        return self.signature.result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"<task type {self.type!r}>"


class FunctionType(Generic[P, R]):
    """A durable function: its name, its version and its code; made by ``App.function``.

    >>> import cairn
    >>> app = cairn.App()
    >>> @app.function("greet", version=2)
    ... def greet(ctx: cairn.Context, who: str) -> str:
    ...     return "hello " + who
    >>> greet.name, greet.version, str(greet)
    ('greet', 2, 'greet')
    """

    name: str
    version: int
    fn: Callable[..., Any]

    def __init__(self, name: str, fn: Callable[..., Any], *, version: int = 1, from_version: Optional[int] = None,
                 commit: str = "step", max_attempts: int = 3, dlq: bool = False) -> None:
        if commit not in ("step", "passage"):
            raise ValueError(f'commit is {commit!r}; it must be "step" or "passage"')
        self.name = name
        self.version = version
        self.from_version = version if from_version is None else from_version
        if not 1 <= self.from_version <= version:
            raise ValueError(f"from_version is {from_version}; it must be from 1 to the version, {version}")
        self.commit = commit
        self.max_attempts = max_attempts
        self.dlq = dlq
        self.fn = fn
        functools.update_wrapper(self, fn, updated=())

    @functools.cached_property
    def signature(self) -> Signature:
        """What the function takes and gives."""
        return Signature(self.fn)

    @property
    def result_type(self) -> Any:
        """The annotation of its result."""
        return self.signature.result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<function {self.name!r}, version {self.version}>"


def type_name(task: Union[str, "TaskType[Any, Any]"]) -> str:
    """The type as text."""
    if isinstance(task, TaskType):
        return task.type
    if isinstance(task, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return task
    raise TypeError(f"a task is a text or what App.task() gives, not {type(task).__name__}")


def result_type(task: Any) -> Any:
    """What results are decoded to."""
    return task.result_type if isinstance(task, (TaskType, FunctionType)) else Any


class JobSpec:
    """The arguments of ``enqueue()``, kept for ``enqueue_many`` and ``tx``.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     jobs = db.enqueue_many([cairn.JobSpec("mail.send.v1", n) for n in range(3)])
    ...     [job.get().payload for job in jobs]
    [0, 1, 2]
    """

    @overload
    def __init__(self, task: str, payload: Any = ..., *, key: Optional[str] = ..., priority: int = ...,
                 max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                 metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
                 timeout: Optional[Duration] = ..., retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                 debounce: Optional[Duration] = ..., group: str = ...) -> None: ...

    @overload
    def __init__(self, task: "TaskType[P, Any]", payload: P = ..., *, key: Optional[str] = ..., priority: int = ...,
                 max_attempts: int = ..., at: Optional[Time] = ..., delay: Optional[Duration] = ...,
                 metadata: Optional[Dict[str, Any]] = ..., tags: Optional[Dict[str, str]] = ...,
                 timeout: Optional[Duration] = ..., retry: Optional[Backoff] = ..., on_existing: Optional[OnExisting] = ...,
                 debounce: Optional[Duration] = ..., group: str = ...) -> None: ...

    def __init__(self, task: "Union[str, TaskType[Any, Any]]", payload: Any = UNSET, *, key: Optional[str] = None,
                 priority: int = 100, max_attempts: int = 3, at: Optional[Time] = None,
                 delay: Optional[Duration] = None, metadata: Optional[Dict[str, Any]] = None,
                 tags: Optional[Dict[str, str]] = None, timeout: Optional[Duration] = None,
                 retry: Optional[Backoff] = None, on_existing: Optional[OnExisting] = None,
                 debounce: Optional[Duration] = None, group: str = "") -> None:
        if at is not None and delay is not None:
            raise ValueError("at and delay exclude each other")
        self.task = task
        self.type = type_name(task)
        self.payload: Json = payload
        self.key = key
        self.priority = priority
        self.max_attempts = max_attempts
        self.at = at
        self.delay = delay
        self.metadata = metadata
        self.tags = tags
        self.timeout = timeout
        self.retry = retry
        self.on_existing = on_existing
        self.debounce = debounce
        self.group = group


# ---- what the decorators of App are to type checkers


class TaskDecorator(Protocol):
    """What ``App.task()`` gives: takes a handler, sync or async, with or without the task."""

    @overload
    def __call__(self, fn: "Callable[[Task], Coroutine[Any, Any, R]]") -> "TaskType[Any, R]": ...
    @overload
    def __call__(self, fn: "Callable[[Task, P], Coroutine[Any, Any, R]]") -> "TaskType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[P], Coroutine[Any, Any, R]]") -> "TaskType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[], Coroutine[Any, Any, R]]") -> "TaskType[Any, R]": ...
    @overload
    def __call__(self, fn: "Callable[[Task], R]") -> "TaskType[Any, R]": ...
    @overload
    def __call__(self, fn: "Callable[[Task, P], R]") -> "TaskType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[P], R]") -> "TaskType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[], R]") -> "TaskType[Any, R]": ...
    def __call__(self, fn: Callable[..., Any]) -> "TaskType[Any, Any]": ...


class FunctionDecorator(Protocol):
    """What ``App.function()`` gives: takes the code of a function, sync or async."""

    @overload
    def __call__(self, fn: "Callable[[AsyncContext, P], Coroutine[Any, Any, R]]") -> "FunctionType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[AsyncContext], Coroutine[Any, Any, R]]") -> "FunctionType[Any, R]": ...
    @overload
    def __call__(self, fn: "Callable[[Context, P], R]") -> "FunctionType[P, R]": ...
    @overload
    def __call__(self, fn: "Callable[[Context], R]") -> "FunctionType[Any, R]": ...
    def __call__(self, fn: Callable[..., Any]) -> "FunctionType[Any, Any]": ...


Handler = Callable[..., Any]
Specs = Iterable[JobSpec]
Handlers = List[TaskType[Any, Any]]
