# SPDX-License-Identifier: Apache-2.0
"""Every error: one class for each code of the engine, and those of the SDK.

scripts/gen_python.py makes this file from spec/errors.txt: do not edit it.
"""

from __future__ import annotations

from typing import Dict, Type

from cairn._errors import (
    BadPayload, CairnError, Dead, Ended, InstanceAborted, InstanceCancelled, InstanceFailed,
    JobCancelled, JobFailed, Misuse, Outcome, Release, Retry, StepFailedFields, Stopped, Suspended,
    Unsupported, WaitFor,
)

__all__ = [
    "CairnError", "Ended", "JobFailed", "JobCancelled", "InstanceFailed", "InstanceCancelled",
    "InstanceAborted", "BadPayload", "Unsupported", "Misuse", "Outcome", "Retry", "Dead",
    "Release", "WaitFor", "Stopped", "Suspended", "BadInput", "BadJson", "TooLarge",
    "Unauthorized", "Forbidden", "NotFound", "MethodNotAllowed", "WrongState", "LeaseLost",
    "WrongRuntime", "Conflict", "TooMany", "Unreachable", "Busy", "StoreFull", "ReadOnly",
    "SchemaNewer", "SchemaOlder", "NotADatabase", "Store", "OutOfMemory", "Closed", "Internal",
    "StepFailed", "TimedOut", "VersionMismatch",
]


class BadInput(CairnError, ValueError):
    """A field is missing, unknown, of the wrong type or out of range.

    >>> BadInput("a message").http_status
    400
    """

    code = "bad_input"
    http_status = 400


class BadJson(CairnError, ValueError):
    """The text is not JSON that can be stored.

    >>> BadJson("a message").http_status
    400
    """

    code = "bad_json"
    http_status = 400


class TooLarge(CairnError):
    """Beyond a limit; nothing was written.

    >>> TooLarge("a message").http_status
    413
    """

    code = "too_large"
    http_status = 413


class Unauthorized(CairnError):
    """No token, or an unknown one.

    >>> Unauthorized("a message").http_status
    401
    """

    code = "unauthorized"
    http_status = 401


class Forbidden(CairnError, PermissionError):
    """The token's role does not allow this.

    >>> Forbidden("a message").http_status
    403
    """

    code = "forbidden"
    http_status = 403


class NotFound(CairnError, LookupError):
    """No such job, workflow, instance, record or route.

    >>> NotFound("a message").http_status
    404
    """

    code = "not_found"
    http_status = 404


class MethodNotAllowed(CairnError):
    """The route exists, but not with this method.

    >>> MethodNotAllowed("a message").http_status
    405
    """

    code = "method_not_allowed"
    http_status = 405


class WrongState(CairnError):
    """The object's state does not allow this.

    >>> WrongState("a message").http_status
    409
    """

    code = "wrong_state"
    http_status = 409


class LeaseLost(CairnError):
    """The task is no longer leased to this worker with this token.

    >>> LeaseLost("a message").http_status
    409
    """

    code = "lease_lost"
    http_status = 409


class WrongRuntime(CairnError):
    """The registry says that another runtime owns this type.

    >>> WrongRuntime("a message").http_status
    409
    """

    code = "wrong_runtime"
    http_status = 409


class Conflict(CairnError):
    """The same name already stands for something else.

    >>> Conflict("a message").http_status
    409
    """

    code = "conflict"
    http_status = 409


class TooMany(CairnError):
    """More at once than is allowed; try again later.

    >>> TooMany("a message").http_status
    429
    """

    code = "too_many"
    http_status = 429
    is_retryable = True


class Unreachable(CairnError, ConnectionError):
    """The store or server could not be reached; try again later.

    >>> Unreachable("a message").http_status
    503
    """

    code = "unreachable"
    http_status = 503
    is_retryable = True


class Busy(CairnError):
    """Somebody else holds a lock; try again later.

    >>> Busy("a message").http_status
    503
    """

    code = "busy"
    http_status = 503
    is_retryable = True


class StoreFull(CairnError):
    """The disk, or the database's own limit, is full.

    >>> StoreFull("a message").http_status
    503
    """

    code = "store_full"
    http_status = 503
    is_retryable = True


class ReadOnly(CairnError):
    """The store cannot be written to.

    >>> ReadOnly("a message").http_status
    503
    """

    code = "read_only"
    http_status = 503


class SchemaNewer(CairnError):
    """A newer Cairn has written here; nothing was touched.

    >>> SchemaNewer("a message").http_status
    503
    """

    code = "schema_newer"
    http_status = 503


class SchemaOlder(CairnError):
    """The tables are older than this library, and migrating was turned off.

    >>> SchemaOlder("a message").http_status
    503
    """

    code = "schema_older"
    http_status = 503


class NotADatabase(CairnError):
    """The file is something else.

    >>> NotADatabase("a message").http_status
    503
    """

    code = "not_a_database"
    http_status = 503


class Store(CairnError):
    """The database said no.

    >>> Store("a message").http_status
    500
    """

    code = "store"
    http_status = 500


class OutOfMemory(CairnError):
    """Memory ran out; nothing was written.

    >>> OutOfMemory("a message").http_status
    503
    """

    code = "out_of_memory"
    http_status = 503


class Closed(CairnError):
    """The engine is closing.

    >>> Closed("a message").http_status
    503
    """

    code = "closed"
    http_status = 503
    is_retryable = True


class Internal(CairnError):
    """A bug in Cairn; please report it.

    >>> Internal("a message").http_status
    500
    """

    code = "internal"
    http_status = 500


class StepFailed(StepFailedFields):
    """A step of a function has no call left.

    >>> StepFailed("a message").http_status
    500
    """

    code = "step_failed"
    http_status = 500


class TimedOut(CairnError, TimeoutError):
    """What was waited for did not come in time.

    >>> TimedOut("a message").http_status
    500
    """

    code = "timed_out"
    http_status = 500


class VersionMismatch(CairnError):
    """The function's code is not the one whose steps are remembered.

    >>> VersionMismatch("a message").http_status
    409
    """

    code = "version_mismatch"
    http_status = 409


BY_CODE: Dict[str, Type[CairnError]] = {
    "bad_input": BadInput,
    "bad_json": BadJson,
    "too_large": TooLarge,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "not_found": NotFound,
    "method_not_allowed": MethodNotAllowed,
    "wrong_state": WrongState,
    "lease_lost": LeaseLost,
    "wrong_runtime": WrongRuntime,
    "conflict": Conflict,
    "too_many": TooMany,
    "unreachable": Unreachable,
    "busy": Busy,
    "store_full": StoreFull,
    "read_only": ReadOnly,
    "schema_newer": SchemaNewer,
    "schema_older": SchemaOlder,
    "not_a_database": NotADatabase,
    "store": Store,
    "out_of_memory": OutOfMemory,
    "closed": Closed,
    "internal": Internal,
    "step_failed": StepFailed,
    "timed_out": TimedOut,
    "version_mismatch": VersionMismatch,
}

CODE_OF_NUMBER: Dict[int, str] = {
    0: "ok",
    1: "bad_input",
    2: "bad_json",
    3: "too_large",
    4: "unauthorized",
    5: "forbidden",
    6: "not_found",
    7: "method_not_allowed",
    8: "wrong_state",
    9: "lease_lost",
    10: "wrong_runtime",
    11: "conflict",
    12: "too_many",
    13: "unreachable",
    14: "busy",
    15: "store_full",
    16: "read_only",
    17: "schema_newer",
    18: "schema_older",
    19: "not_a_database",
    20: "store",
    21: "out_of_memory",
    22: "closed",
    23: "internal",
    24: "suspended",
    25: "step_failed",
    26: "timed_out",
    27: "version_mismatch",
}


def make(code: str, message: str, detail: str = "", hint: str = "", http_status: int = 500) -> CairnError:
    """The error for a code of the engine; an unknown code gives a plain CairnError with it.

    >>> make("not_found", "no such job")
    NotFound('no such job')
    >>> make("from_the_future", "?").code
    'from_the_future'
    """
    known = BY_CODE.get(code)
    if known is None:
        return CairnError(message, code=code, detail=detail, hint=hint, http_status=http_status)
    return known(message, detail=detail, hint=hint)
