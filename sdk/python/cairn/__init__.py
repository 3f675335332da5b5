# SPDX-License-Identifier: Apache-2.0
"""Durable jobs, workflows and functions, on SQLite, PostgreSQL or a server.

Nothing is opened, connected or loaded by importing this package.
"""

from cairn._check import Flaw, validate
from cairn._codec import Codec
from cairn._library import Library, library
from cairn._version import __version__
from cairn._words import Duration, Json, Time
from cairn._workflow import Backoff, Compensation, Condition, Fork, Workflow
from cairn.errors import (
    BadInput, BadJson, BadPayload, Busy, CairnError, Closed, Conflict, Dead, Ended, Forbidden,
    InstanceAborted, InstanceCancelled, InstanceFailed, JobCancelled, JobFailed, LeaseLost,
    MethodNotAllowed, Misuse, NotADatabase, NotFound, Outcome, OutOfMemory, ReadOnly, Release, Retry,
    SchemaNewer, SchemaOlder, StepFailed, Stopped, StoreFull, Suspended, TimedOut, TooLarge, TooMany,
    Unauthorized, Unreachable, Unsupported, VersionMismatch, WaitFor, WrongRuntime, WrongState,
)

__all__ = [
    "Backoff", "BadInput", "BadJson", "BadPayload", "Busy", "CairnError", "Closed", "Codec",
    "Compensation", "Condition", "Conflict", "Dead", "Duration", "Ended", "Flaw", "Forbidden", "Fork",
    "InstanceAborted", "InstanceCancelled", "InstanceFailed",
    "JobCancelled", "JobFailed", "Json", "LeaseLost", "Library", "MethodNotAllowed", "Misuse",
    "NotADatabase", "NotFound", "OutOfMemory", "Outcome", "ReadOnly", "Release", "Retry",
    "SchemaNewer", "SchemaOlder", "StepFailed", "Stopped", "StoreFull", "Suspended", "Time",
    "TimedOut", "TooLarge", "TooMany", "Unauthorized", "Unreachable", "Unsupported",
    "VersionMismatch", "WaitFor", "WrongRuntime", "WrongState", "Workflow", "__version__", "library",
    "validate",
]
