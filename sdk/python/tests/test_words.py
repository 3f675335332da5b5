# SPDX-License-Identifier: Apache-2.0
"""Durations, times and errors."""

import pickle
from datetime import datetime, timedelta, timezone

import pytest

from cairn import _words, errors


@pytest.mark.parametrize("given, ms", [
    (0, 0), (1, 1000), (1.5, 1500), (0.0004, 0), ("0s", 0), ("250ms", 250), ("30s", 30_000), ("10m", 600_000),
    ("24h", 86_400_000), ("3d", 259_200_000), (timedelta(seconds=1, microseconds=600), 1001)])
def test_durations(given, ms):
    assert _words.to_ms(given) == ms


@pytest.mark.parametrize("given", [-1, -0.0001, "-1s", timedelta(microseconds=-1), "", "s", "1", "1 s", "1.5s", "1w",
                                   "1S", "٣s", float("nan"), float("inf"), 1e300, "999999999999999d"])
def test_no_durations(given):
    with pytest.raises(ValueError):
        _words.to_ms(given)


@pytest.mark.parametrize("given", [None, True, [], b"1s"])
def test_durations_of_a_wrong_type(given):
    with pytest.raises(TypeError):
        _words.to_ms(given)


@pytest.mark.parametrize("given, text", [(0, "0ms"), (1, "1s"), (90, "90s"), (3600, "1h"), ("48h", "2d"), (0.25, "250ms")])
def test_duration_text(given, text):
    assert _words.duration_text(given) == text
    assert _words.to_ms(text) == _words.to_ms(given)


def test_times_are_utc():
    berlin = timezone(timedelta(hours=1))
    assert _words.to_time(datetime(2030, 1, 1, 1, 0, tzinfo=berlin)) == "2030-01-01T00:00:00.000000Z"
    assert _words.to_time("2030-01-01t00:00:00.123456789z") == "2030-01-01T00:00:00.123456Z"
    assert _words.to_time("0001-01-01T00:00:00Z") == "0001-01-01T00:00:00.000000Z"
    back = _words.from_time("2030-01-01T00:00:00.000001Z")
    assert back is not None and back.tzinfo is timezone.utc and back.microsecond == 1


@pytest.mark.parametrize("given", [datetime(2030, 1, 1), "2030-01-01", "2030-01-01T00:00:00", "2030-13-01T00:00:00Z",
                                   "tomorrow", "2030-01-01T00:00:00+25:00", "0001-01-01T00:00:00+01:00"])
def test_no_times(given):
    with pytest.raises(ValueError):
        _words.to_time(given)


def test_microseconds():
    when = datetime(2030, 1, 1, 0, 0, 0, 7, timezone.utc)
    assert _words.from_us(_words.to_us(when)) == when
    assert _words.from_us(0) is None


# ---- errors ---------------------------------------------------------------------------------------


def test_each_code_has_a_class():
    assert set(errors.BY_CODE) == set(errors.CODE_OF_NUMBER.values()) - {"ok", "suspended"}
    for code, cls in errors.BY_CODE.items():
        error = errors.make(code, "a fact", "a detail", "a hint")
        assert type(error) is cls and error.code == code
        assert str(error) == "a fact\na detail\na hint"
        assert pickle.loads(pickle.dumps(error)).__dict__ == error.__dict__


@pytest.mark.parametrize("cls, base", [
    (errors.BadInput, ValueError), (errors.BadJson, ValueError), (errors.Forbidden, PermissionError),
    (errors.NotFound, LookupError), (errors.Unreachable, ConnectionError), (errors.TimedOut, TimeoutError),
    (errors.BadPayload, ValueError), (errors.Misuse, RuntimeError)])
def test_errors_are_also_those_of_python(cls, base):
    with pytest.raises(base) as caught:
        raise cls("no")
    assert str(caught.value) == "no" and isinstance(caught.value, errors.CairnError)


def test_what_may_be_tried_again():
    again = {code for code, cls in errors.BY_CODE.items() if cls.is_retryable}
    assert again == {"busy", "unreachable", "too_many", "store_full", "closed"}


def test_an_unknown_code_is_kept():
    error = errors.make("from_the_future", "new", http_status=418)
    assert type(error) is errors.CairnError
    assert (error.code, error.http_status, error.is_retryable) == ("from_the_future", 418, False)


def test_stops_pass_except_exception():
    for cls in (errors.Stopped, errors.Suspended):
        assert not issubclass(cls, Exception)
