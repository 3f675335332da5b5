# SPDX-License-Identifier: Apache-2.0
"""Durations and times, as callers write them and as the engine reads them."""

from __future__ import annotations

import enum
import json
import math
import re
import sys
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, Optional, Union

Json = Any
"""What ``read_json`` gives."""


class Whole(float):
    """A whole number that was written with an exponent, such as 1e23: the nearest float, which knows the integer."""

    __slots__ = ("exact",)
    exact: int


def _exact_of(text: str) -> Optional[int]:
    """The integer that a text such as "6.02e23" means; None: it has a fraction."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    shift = int(exponent or 0) - len(part)
    return int(whole + part) * 10 ** shift if shift >= 0 else None


def _to_real(text: str) -> Union[int, float]:
    value = float(text)
    if -1e19 < value < 1e19 or math.isinf(value):
        return value
    exact = _exact_of(text)
    if exact is None or exact == value:
        return value
    if exact != _exact_of(repr(value)):
        return exact  # no float has so many digits
    whole = Whole(value)
    whole.exact = exact
    return whole


def read_json(text: Union[str, bytes]) -> Any:
    """The value of a JSON text.  Integers have any length; so has a whole number with an exponent and more digits
    than a float keeps, since PostgreSQL's store writes long integers so.

    >>> read_json('[12345678901234567890, 1e3, 6.02e23, 1.2345678901234567890123e30]')
    [12345678901234567890, 1000.0, 6.02e+23, 1234567890123456789012300000000]
    """
    return json.loads(text, parse_float=_to_real)


Duration = Union[int, float, str, timedelta]
"""Numbers are seconds; texts are as in workflow files: "250ms", "30s", "10m", "24h", "3d"."""

Time = Union[datetime, str]
"""An aware ``datetime``, or a text as in RFC 3339."""

OnExisting = Literal["return", "fail", "restart_failed", "new_if_ended"]
"""What becomes of a job or an instance whose key is known."""


class Unset(enum.Enum):
    """The type of ``UNSET``: an argument that was not given, where None is a value."""

    UNSET = "not given"

    def __repr__(self) -> str:
        return "<not given>"


UNSET = Unset.UNSET


def loaded(module: str, name: str) -> Any:
    """A class of a module that somebody has imported; None: nobody has, so there is no value of it."""
    return getattr(sys.modules.get(module), name, None)


_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(-?[0-9]{1,15})(ms|s|m|h|d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)")
_MAX_MS = (1 << 63) // 1000 - 1


def to_ms(duration: Duration) -> int:
    """A duration in whole milliseconds, rounded to the nearest.

    >>> to_ms("250ms"), to_ms("3d"), to_ms(1.5), to_ms(timedelta(minutes=2)), to_ms(0)
    (250, 259200000, 1500, 120000, 0)
    >>> to_ms("1w")
    Traceback (most recent call last):
        ...
    ValueError: not a duration: '1w' (write "250ms", "30s", "10m", "24h" or "3d")
    >>> to_ms(-1)
    Traceback (most recent call last):
        ...
    ValueError: a duration cannot be negative: -1
    """
    given: Any = duration
    if isinstance(given, bool) or not isinstance(given, (int, float, str, timedelta)):
        raise TypeError(f"a duration is a number, a text or a timedelta, not {type(given).__name__}")
    if isinstance(duration, str):
        ms = _text_to_ms(duration)
    elif isinstance(duration, timedelta):
        ms = round(duration / timedelta(milliseconds=1))
    elif duration != duration or duration in (float("inf"), float("-inf")):
        raise ValueError(f"not a duration: {duration}")
    else:
        ms = round(duration * 1000)
    if ms < 0 or _is_negative(duration):
        raise ValueError(f"a duration cannot be negative: {duration}")
    if ms > _MAX_MS:
        raise ValueError(f"a duration cannot be as long as {duration}")
    return ms


def _text_to_ms(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if not match:
        raise ValueError(f'not a duration: {text!r} (write "250ms", "30s", "10m", "24h" or "3d")')
    return int(match.group(1)) * _UNITS_MS[match.group(2)]


def _is_negative(duration: Duration) -> bool:
    """Also of durations that round to zero."""
    if isinstance(duration, str):
        return False
    return duration < timedelta(0) if isinstance(duration, timedelta) else duration < 0


def to_seconds(duration: Duration) -> float:
    """A duration in seconds, to the millisecond.

    >>> to_seconds("250ms"), to_seconds("1m"), to_seconds(0.5)
    (0.25, 60.0, 0.5)
    """
    return to_ms(duration) / 1000


def duration_text(duration: Duration) -> str:
    """A duration as workflow files write it, in the largest unit that fits.

    >>> duration_text(90), duration_text(timedelta(hours=48)), duration_text(0.25), duration_text(0)
    ('90s', '2d', '250ms', '0ms')
    """
    ms = to_ms(duration)
    for unit in ("d", "h", "m", "s"):
        if ms and ms % _UNITS_MS[unit] == 0:
            return f"{ms // _UNITS_MS[unit]}{unit}"
    return f"{ms}ms"


def to_datetime(time: Time) -> datetime:
    """A time as an aware ``datetime`` in UTC.

    >>> to_datetime("2030-01-01T02:00:00+02:00").isoformat()
    '2030-01-01T00:00:00+00:00'
    >>> to_datetime(datetime(2030, 1, 1))
    Traceback (most recent call last):
        ...
    ValueError: 2030-01-01 00:00:00 has no time zone: use datetime.now(timezone.utc), or .astimezone()
    """
    if isinstance(time, str):
        return _parse(time)
    given: Any = time
    if not isinstance(given, datetime):
        raise TypeError(f"a time is a datetime or a text, not {type(given).__name__}")
    if time.tzinfo is None or time.utcoffset() is None:
        raise ValueError(f"{time} has no time zone: use datetime.now(timezone.utc), or .astimezone()")
    return time.astimezone(timezone.utc)


def _parse(text: str) -> datetime:
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(f'not a time: {text!r} (write it as "2030-01-31T09:00:00Z")')
    day, clock, fraction, zone = match.groups()
    fraction = (fraction or "")[:6].ljust(6, "0")
    zone = "+00:00" if zone in "Zz" else zone
    try:
        return datetime.fromisoformat(f"{day}T{clock}.{fraction}{zone}").astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"not a time: {text!r} ({error})") from None


def to_time(time: Time) -> str:
    """A time as RFC 3339 in UTC, which is how the engine reads it.

    >>> to_time("2030-01-01T02:00:00+02:00"), to_time(datetime(2030, 1, 1, 0, 0, 0, 5, timezone.utc))
    ('2030-01-01T00:00:00.000000Z', '2030-01-01T00:00:00.000005Z')
    """
    return to_datetime(time).strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") + "Z"


def from_time(text: Optional[str]) -> Optional[datetime]:
    """A time of an answer of the engine; None stays None.

    >>> from_time("2030-01-01T00:00:00.000005Z").microsecond, from_time(None)
    (5, None)
    """
    return None if text is None else _parse(text)


def to_us(time: Time) -> int:
    """A time in microseconds since 1970, for structs of the library.

    >>> to_us("1970-01-01T00:00:01Z")
    1000000
    """
    return (to_datetime(time) - _EPOCH) // _MICROSECOND


def from_us(us: int) -> Optional[datetime]:
    """A time of a struct of the library; 0, which is "not set", is None.

    >>> from_us(1000000).isoformat(), from_us(0)
    ('1970-01-01T00:00:01+00:00', None)
    """
    return _EPOCH + timedelta(microseconds=us) if us else None
