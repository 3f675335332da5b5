# SPDX-License-Identifier: Apache-2.0
"""Payloads: Python values to JSON text and back, by annotation."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from typing import Any, Callable, Dict, List, Protocol

from cairn._decode import convert, pydantic_adapter
from cairn._errors import BadPayload
from cairn._words import loaded, read_json


class Codec(Protocol):
    """How payloads, inputs, outputs and results are written.

    A codec of your own may encrypt: it then writes the whole text as one JSON string or object, and
    conditions in workflow files see only that.

    >>> import base64, cairn
    >>> class Hidden:
    ...     def encode(self, value):
    ...         text = cairn._codec.DEFAULT.encode(value)
    ...         return '"' + base64.b64encode(text.encode()).decode() + '"'
    ...     def decode(self, text, type):
    ...         inner = base64.b64decode(cairn._codec.DEFAULT.decode(text, str)).decode()
    ...         return cairn._codec.DEFAULT.decode(inner, type)
    >>> codec: cairn.Codec = Hidden()
    >>> codec.decode(codec.encode({"card": 17}), dict)
    {'card': 17}
    """

    def encode(self, value: Any) -> str:
        """The value as JSON text."""
        ...

    def decode(self, text: str, type: Any) -> Any:
        """The value of this JSON text, as the annotation ``type`` says."""
        ...


def _refuse(value: Any, why: str) -> BadPayload:
    text = repr(value)
    return BadPayload(f"cannot encode {text if len(text) <= 60 else text[:57] + '...'}: {why}")


def _from_dict(value: Dict[Any, Any]) -> Dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise _refuse(key, "keys of a JSON object are texts")
    return {str(key): to_json(item) for key, item in value.items()}


def _from_list(value: Any) -> List[Any]:
    return [to_json(item) for item in value]


def _from_int(value: int) -> int:
    try:
        float(value)
    except OverflowError:
        raise BadPayload("cannot encode an integer that no double can hold: send it as a text") from None
    return value


def _from_float(value: float) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        raise _refuse(value, "JSON has no such number")
    return value


def _from_datetime(value: datetime.datetime) -> str:
    if value.utcoffset() is None:
        raise _refuse(value, "it has no time zone")
    return value.isoformat().replace("+00:00", "Z")


def _from_dataclass(value: Any) -> Dict[str, Any]:
    return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _same(value: Any) -> Any:
    return value


_EXACT: Dict[type, Callable[[Any], Any]] = {
    type(None): _same, bool: _same, str: _same, int: _from_int, float: _from_float,
    dict: _from_dict, list: _from_list, tuple: _from_list,
    datetime.datetime: _from_datetime, datetime.date: datetime.date.isoformat,
}


def _is_written_as_text(value: Any) -> bool:
    """Whether it is a UUID or a Decimal, whose modules are not imported for those who use neither."""
    return any(known is not None and isinstance(value, known)
               for known in (loaded("uuid", "UUID"), loaded("decimal", "Decimal")))


def to_json(value: Any) -> Any:
    """A value that ``json.dumps`` writes as it is; BadPayload if there is none.

    >>> import decimal, uuid
    >>> to_json((1, uuid.UUID(int=1), decimal.Decimal("1.10")))
    [1, '00000000-0000-0000-0000-000000000001', '1.10']
    """
    exact = _EXACT.get(value.__class__)
    if exact is not None:
        return exact(value)
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if _is_pydantic(value):
        return pydantic_adapter(value.__class__).dump_python(value, mode="json")
    if dataclasses.is_dataclass(value.__class__):
        return _from_dataclass(value)
    for known, convert_it in _EXACT.items():
        if isinstance(value, known):
            return convert_it(value)
    if _is_written_as_text(value):
        return str(value)
    raise _refuse(value, f"{value.__class__.__name__} has no form in JSON")


def _is_pydantic(value: Any) -> bool:
    """Whether it is a model of pydantic 2, or a dataclass that pydantic has made."""
    return hasattr(value.__class__, "__pydantic_validator__")


_write = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


class JsonCodec:
    """The default codec: plain JSON, no class names.

    >>> import cairn
    >>> cairn._codec.JsonCodec().encode({"at": datetime.date(2030, 1, 31), "sizes": (1, 2)})
    '{"at":"2030-01-31","sizes":[1,2]}'
    """

    def encode(self, value: Any) -> str:
        """The value as JSON text; BadPayload if it has none."""
        try:
            text = _write(to_json(value))
        except RecursionError:
            raise BadPayload("cannot encode a value that contains itself, or is nested too deeply") from None
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise BadPayload(f"cannot encode a text: {error}") from None
        return text

    def decode(self, text: str, type: Any) -> Any:
        """The value, as ``type`` says; BadPayload if it does not fit.

        >>> from typing import List, Optional
        >>> JsonCodec().decode('[1, null]', List[Optional[int]])
        [1, None]
        >>> JsonCodec().decode('["x"]', List[int])
        Traceback (most recent call last):
            ...
        cairn.errors.BadPayload: [0]: expected int, got text
        """
        try:
            value = read_json(text)
        except (ValueError, RecursionError) as error:
            raise BadPayload(f"not JSON: {error}") from None
        return convert(value, type)


DEFAULT = JsonCodec()
