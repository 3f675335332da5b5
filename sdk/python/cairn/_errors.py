# SPDX-License-Identifier: Apache-2.0
"""The base of all errors, and the errors that the SDK raises by itself.

``cairn.errors`` adds one class for each code of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Union

if TYPE_CHECKING:
    from cairn import Instance, Job
    from cairn._words import Duration


class CairnError(Exception):
    """Anything that the engine or the SDK rejects.

    ``str()`` is the message, then the detail and the hint on lines of their own.

    >>> error = CairnError("could not open the store", code="busy", hint="try again")
    >>> print(error)
    could not open the store
    try again
    >>> error.code, error.is_retryable
    ('busy', False)
    """

    code: str = "internal"
    message: str
    detail: str
    hint: str
    http_status: int = 500
    is_retryable: bool = False

    def __init__(self, message: str = "", *, code: Optional[str] = None, detail: str = "", hint: str = "",
                 http_status: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        if code is not None:
            self.code = code
        if http_status is not None:
            self.http_status = http_status

    def __str__(self) -> str:
        return "\n".join(line for line in (self.message, self.detail, self.hint) if line)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_restore, (type(self), dict(self.__dict__), self.args))


def _restore(cls: Any, fields: Dict[str, Any], args: Tuple[Any, ...]) -> BaseException:
    error: BaseException = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class StepFailedFields(CairnError):
    """What ``StepFailed`` has beside the fields of every error."""

    key: str = ""
    error: str = ""
    attempts: int = 0


class BadPayload(CairnError, ValueError):
    """A value cannot be written as JSON, or JSON does not fit the annotation.

    >>> import cairn
    >>> with cairn.open("memory:") as db:
    ...     db.enqueue("a.v1", float("nan"))
    Traceback (most recent call last):
        ...
    cairn.errors.BadPayload: cannot encode nan: JSON has no such number
    """

    code = "bad_payload"
    http_status = 400


class Unsupported(CairnError):
    """The engine that is open, or this version of the library, cannot do this.

    >>> Unsupported("no schedules").code
    'unsupported'
    """

    code = "unsupported"
    http_status = 501


class Misuse(CairnError, RuntimeError):
    """The program uses the SDK in a way that cannot work.

    >>> Misuse("an app without handlers").code
    'misuse'
    """

    code = "misuse"
    http_status = 400


class Ended(CairnError):
    """A job or an instance has ended without a result.

    >>> issubclass(JobFailed, Ended)
    True
    """

    code = "ended"
    http_status = 409


class _JobEnded(Ended):
    job: "Job"
    _did = "ended"

    def __init__(self, job: "Job") -> None:
        super().__init__(f"job {job.id} {self._did}", detail=getattr(job, "last_error", None) or "")
        self.job = job


class JobFailed(_JobEnded):
    """The job has failed; ``job`` is its row."""

    code = "job_failed"
    _did = "has failed"


class JobCancelled(_JobEnded):
    """The job was cancelled; ``job`` is its row."""

    code = "job_cancelled"
    _did = "was cancelled"


class _InstanceEnded(Ended):
    instance: "Instance"
    _did = "ended"

    def __init__(self, instance: "Instance") -> None:
        super().__init__(f"instance {instance.id} {self._did}", detail=getattr(instance, "error", None) or "")
        self.instance = instance


class InstanceFailed(_InstanceEnded):
    """The instance has failed; ``instance`` is its row."""

    code = "instance_failed"
    _did = "has failed"


class InstanceCancelled(_InstanceEnded):
    """The instance was cancelled; ``instance`` is its row."""

    code = "instance_cancelled"
    _did = "was cancelled"


class InstanceAborted(_InstanceEnded):
    """The instance was aborted; ``instance`` is its row."""

    code = "instance_aborted"
    _did = "was aborted"


def text_of(error: Union[str, BaseException]) -> str:
    """An exception as the engine stores it.

    >>> text_of(KeyError("name")), text_of(ValueError()), text_of("no such address")
    ("KeyError: 'name'", 'ValueError', 'no such address')
    """
    if isinstance(error, str):
        return error
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class Outcome(Exception):
    """What a handler raises to end its task in another way than with a result.

    >>> issubclass(Retry, Outcome), issubclass(Outcome, CairnError)
    (True, False)
    """


class Retry(Outcome):
    """The task is called again, after ``after`` or, if that is None, after its own backoff.

    It uses an attempt.

    >>> Retry("the server is busy", after="10s").after
    '10s'
    """

    def __init__(self, error: Union[str, BaseException] = "", after: "Optional[Duration]" = None) -> None:
        super().__init__(text_of(error))
        self.error = text_of(error)
        self.after = after


class Dead(Outcome):
    """The task has failed and is not called again, even if attempts are left.

    >>> Dead(ValueError("no such address")).error
    'ValueError: no such address'
    """

    def __init__(self, error: Union[str, BaseException] = "") -> None:
        super().__init__(text_of(error))
        self.error = text_of(error)


class Release(Outcome):
    """The task is given back without using an attempt, and can be claimed again after ``after``.

    >>> Release(after="5m").after
    '5m'
    """

    def __init__(self, after: "Duration" = 0) -> None:
        super().__init__(f"released for {after}")
        self.after = after


class WaitFor(Outcome):
    """The step is called again when a signal of this event arrives, or after the timeout.

    >>> WaitFor("payment.settled", timeout="1h").event
    'payment.settled'
    """

    def __init__(self, event: str, timeout: "Optional[Duration]" = None) -> None:
        super().__init__(event)
        self.event = event
        self.timeout = timeout


class Stopped(BaseException):
    """The handler should end: its job was cancelled, its lease is lost, the worker stops, ...

    ``except Exception`` does not catch it.

    >>> Stopped("cancelled").reason
    'cancelled'
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Suspended(BaseException):
    """A function ends for now and is continued later.  Let it pass.

    ``except Exception`` does not catch it.

    >>> issubclass(Suspended, Exception)
    False
    """


# Tracebacks and pydoc name the module from which programs import these.
for _public in list(globals().values()):
    if isinstance(_public, type) and issubclass(_public, BaseException) and _public.__module__ == __name__:
        _public.__module__ = "cairn.errors"
