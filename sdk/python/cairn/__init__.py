# SPDX-License-Identifier: Apache-2.0
"""Durable jobs, workflows and functions, on SQLite, PostgreSQL or a server.

Nothing is opened, connected or loaded by importing this package.
"""

from typing import TYPE_CHECKING, Any, List

from cairn import _interpreter as _interpreter
from cairn._version import __version__
from cairn.errors import (
    BadInput, BadJson, BadPayload, Busy, CairnError, Closed, Conflict, Dead, Ended, Forbidden,
    InstanceAborted, InstanceCancelled, InstanceFailed, JobCancelled, JobFailed, LeaseLost,
    MethodNotAllowed, Misuse, NotADatabase, NotFound, Outcome, OutOfMemory, ReadOnly, Release, Retry,
    SchemaNewer, SchemaOlder, StepFailed, Stopped, StoreFull, Suspended, TimedOut, TooLarge, TooMany,
    Unauthorized, Unreachable, Unsupported, VersionMismatch, WaitFor, WrongRuntime, WrongState,
)

if TYPE_CHECKING:
    from cairn import aio as aio
    from cairn import testing as testing
    from cairn._app import App
    from cairn._check import Flaw, validate
    from cairn._codec import Codec
    from cairn._context import FunctionLog, StepCall, step
    from cairn._engine import Engine, open
    from cairn._function import AsyncContext, Context
    from cairn._handles import InstanceHandle, JobHandle
    from cairn._library import Library, library
    from cairn._rows import (
        Definition, Deployed, DlqRecord, Event, Finding, Instance, Job, Limit, Log, OutboxEvent, RegistryEntry, Schedule,
        Signal, Signalled, Step, StreamEvent,
    )
    from cairn._task import Task, current_task
    from cairn._tx import Tx, TxId, tx
    from cairn._types import FunctionType, JobSpec, TaskType, Undo
    from cairn._words import Duration, Json, OnExisting, Time
    from cairn._worker import Worker
    from cairn._workflow import Backoff, Compensation, Condition, Fork, Workflow

__all__ = [
    "App", "AsyncContext", "Backoff", "BadInput", "BadJson", "BadPayload", "Busy", "CairnError", "Closed", "Codec",
    "Compensation", "Condition", "Conflict", "Context", "Dead", "Definition", "Deployed", "DlqRecord", "Duration",
    "Ended", "Engine", "Event", "Finding", "Flaw", "Forbidden", "Fork", "FunctionLog", "FunctionType", "Instance",
    "InstanceAborted", "InstanceCancelled", "InstanceFailed", "InstanceHandle", "Job", "JobCancelled", "JobFailed",
    "JobHandle", "JobSpec", "Json", "LeaseLost", "Library", "Limit", "Log", "MethodNotAllowed", "Misuse", "NotADatabase",
    "NotFound", "OnExisting", "OutOfMemory", "OutboxEvent", "Outcome", "ReadOnly", "RegistryEntry", "Release", "Retry", "Schedule",
    "SchemaNewer", "SchemaOlder", "Signal", "Signalled", "Step", "StepCall", "StepFailed", "Stopped", "StoreFull",
    "StreamEvent", "Suspended", "Task", "TaskType", "Time", "TimedOut", "TooLarge", "TooMany", "Tx", "TxId", "Unauthorized", "Undo",
    "Unreachable", "Unsupported", "VersionMismatch", "WaitFor", "Worker", "Workflow", "WrongRuntime", "WrongState",
    "__version__", "aio", "current_task", "library", "open", "step", "tx", "validate",
]


if not TYPE_CHECKING:
    _PLACES = {
        "_app": "App",
        "_check": "Flaw validate",
        "_codec": "Codec",
        "_context": "FunctionLog StepCall step",
        "_engine": "Engine open",
        "_function": "AsyncContext Context",
        "_handles": "InstanceHandle JobHandle",
        "_library": "Library library",
        "_rows": "Definition Deployed DlqRecord Event Finding Instance Job Limit Log OutboxEvent RegistryEntry Schedule"
                 " Signal Signalled Step StreamEvent",
        "_task": "Task current_task",
        "_tx": "Tx TxId tx",
        "_types": "FunctionType JobSpec TaskType Undo",
        "_words": "Duration Json OnExisting Time",
        "_worker": "Worker",
        "_workflow": "Backoff Compensation Condition Fork Workflow",
    }
    _PLACE_OF = {name: place for place, names in _PLACES.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        """What not every program needs is loaded when it is used: a producer needs no worker."""
        import importlib

        if name in ("aio", "testing", "otel"):
            return importlib.import_module(f"cairn.{name}")
        if name not in _PLACE_OF:
            raise AttributeError(f"module 'cairn' has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(f"cairn.{_PLACE_OF[name]}"), name)
        return found

    def __dir__() -> List[str]:
        return sorted({*globals(), *__all__})
