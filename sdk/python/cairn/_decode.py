# SPDX-License-Identifier: Apache-2.0
"""From plain JSON values to what an annotation says.

A converter is made once for each annotation, and kept.  None is the converter of annotations that
plain JSON fits as it is.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import inspect
import json
import sys
import types
import typing
from typing import Any, Callable, Dict, List, Literal, Optional, Tuple, TypeVar, Union

from cairn._errors import BadPayload
from cairn._words import Whole, loaded, to_datetime

Converter = Optional[Callable[[Any], Any]]

_KINDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", Whole: "a number", str: "text", list: "a list",
          dict: "an object"}
_UNION_TYPES: Tuple[Any, ...] = (Union, getattr(types, "UnionType", Union))


class Mismatch(Exception):
    """A value does not fit; the path grows on the way out."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.path = ""

    def under(self, part: str) -> "Mismatch":
        self.path = part + self.path
        return self


def _is(value: Any, kind: type) -> bool:
    """``isinstance`` that leaves the value an Any for type checkers."""
    return isinstance(value, kind)


def _expected(name: str, value: Any) -> Mismatch:
    return Mismatch(f"expected {name}, got {_KINDS.get(value.__class__, value.__class__.__name__)}")


def convert(value: Any, annotation: Any) -> Any:
    """The plain JSON value as the annotation says; BadPayload if it does not fit.

    >>> convert("2030-01-31", datetime.date)
    datetime.date(2030, 1, 31)
    >>> convert({"a": [1, "2"]}, Dict[str, List[int]])
    Traceback (most recent call last):
        ...
    cairn.errors.BadPayload: a[1]: expected int, got text
    """
    try:
        converter = _converter(annotation)
    except TypeError:  # not hashable, such as Annotated[int, []]
        converter = _make(annotation)
    if converter is None:
        return value
    try:
        return converter(value)
    except Mismatch as mismatch:
        path = mismatch.path.lstrip(".")
        raise BadPayload(f"{path}: {mismatch.text}" if path else mismatch.text) from None
    except RecursionError:
        raise BadPayload("nested too deeply") from None


@functools.lru_cache(maxsize=4096)
def _converter(annotation: Any) -> Converter:
    return _make(annotation)


def _make(annotation: Any) -> Converter:
    if annotation in (Any, object, inspect.Parameter.empty) or isinstance(annotation, TypeVar):
        return None
    if annotation is None:
        annotation = type(None)
    if _has_model(annotation, set()):
        return _through_pydantic(annotation)
    simple = _simple(annotation) if _is(annotation, type) else None
    if simple is not None:
        return simple
    origin = typing.get_origin(annotation)
    if origin is not None:
        made = _of_generic(annotation, origin, typing.get_args(annotation))
        return made if made is not _UNKNOWN else _anything_else(annotation)
    if hasattr(annotation, "__supertype__"):  # NewType
        return _converter(annotation.__supertype__)
    if _is(annotation, type):
        if issubclass(annotation, enum.Enum):
            return functools.partial(_to_enum, annotation)
        if _is_typed_dict(annotation):
            return _to_typed_dict(annotation)
        if dataclasses.is_dataclass(annotation):
            return _to_dataclass(annotation, {})
    return _anything_else(annotation)


def _unknown(value: Any) -> Any:
    raise AssertionError(value)


_UNKNOWN: Converter = _unknown


def _of_generic(annotation: Any, origin: Any, args: Tuple[Any, ...]) -> Converter:
    if origin in _UNION_TYPES:
        return _to_union(args)
    if origin is Literal:
        return functools.partial(_to_literal, args)
    if origin is list:
        return _to_list(_converter(args[0]), list)
    if origin is dict and args[0] in (str, Any):
        return _to_dict(_converter(args[1]))
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return _to_list(_converter(args[0]), tuple)
        return _to_tuple([_converter(arg) for arg in (() if args == ((),) else args)])
    if dataclasses.is_dataclass(origin):
        return _to_dataclass(origin, dict(zip(getattr(origin, "__parameters__", ()), args)))
    if origin is typing.get_origin(typing.Annotated[int, 0]) or hasattr(annotation, "__metadata__"):
        return _anything_else(annotation) or _converter(args[0])
    return _UNKNOWN


# ---- One value ------------------------------------------------------------------------------------


def _to_none(value: Any) -> None:
    if value is not None:
        raise _expected("null", value)


def _to_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _expected("bool", value)
    return value


def _to_int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Whole):
        return value.exact
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number: 1e3 is 1000
        return int(value)
    raise _expected("int", value)


def _to_float(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise _expected("float", value)


def _to_str(value: Any) -> str:
    if not isinstance(value, str):
        raise _expected("str", value)
    return value


def _to_any_list(value: Any) -> List[Any]:
    if not _is(value, list):
        raise _expected("a list", value)
    found: List[Any] = value
    return found


def _to_any_dict(value: Any) -> Dict[str, Any]:
    if not _is(value, dict):
        raise _expected("an object", value)
    found: Dict[str, Any] = value
    return found


def _from_text(name: str, parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def to_value(value: Any) -> Any:
        text = _to_str(value)
        try:
            return parse(text)
        except (ValueError, ArithmeticError):
            raise Mismatch(f"expected {name}, got {text!r}") from None

    return to_value


def _to_decimal(decimal: Any) -> Callable[[Any], Any]:
    from_text = _from_text("a decimal number", decimal)

    def to_value(value: Any) -> Any:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return decimal(str(value)) if is_number else from_text(value)

    return to_value


def _simple(annotation: Any) -> Converter:
    """The converter of a class that JSON has a text for; UUID and Decimal are only looked for once their
    modules are there."""
    known = _SIMPLE.get(annotation)
    if known is None and annotation is loaded("uuid", "UUID"):
        known = _from_text("a UUID", annotation)
    elif known is None and annotation is loaded("decimal", "Decimal"):
        known = _to_decimal(annotation)
    return known


_SIMPLE: Dict[type, Callable[[Any], Any]] = {
    type(None): _to_none, bool: _to_bool, int: _to_int, float: _to_float, str: _to_str,
    list: _to_any_list, dict: _to_any_dict, tuple: lambda value: tuple(_to_any_list(value)),
    datetime.datetime: _from_text("a time with its zone", to_datetime),
    datetime.date: _from_text("a date", datetime.date.fromisoformat),
}


def _to_enum(cls: Any, value: Any) -> Any:
    for member in cls:
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    from cairn._codec import to_json

    for member in cls:  # values that are no plain JSON, such as dates
        if to_json(member.value) == value:
            return member
    raise Mismatch(f"{value!r} is no {cls.__name__}")


def _to_literal(allowed: Tuple[Any, ...], value: Any) -> Any:
    for one in allowed:
        plain = one.value if isinstance(one, enum.Enum) else one
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return one
    raise Mismatch(f"{value!r} is none of {', '.join(map(repr, allowed))}")


# ---- Several values -------------------------------------------------------------------------------


def _to_list(item: Converter, kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def to_value(value: Any) -> Any:
        values = _to_any_list(value)
        if item is None:
            return kind(values)
        out: List[Any] = []
        try:
            for one in values:
                out.append(item(one))
        except Mismatch as mismatch:
            raise mismatch.under(f"[{len(out)}]")
        return kind(out)

    return to_value


def _to_tuple(items: List[Converter]) -> Callable[[Any], Any]:
    def to_value(value: Any) -> Tuple[Any, ...]:
        values = _to_any_list(value)
        if len(values) != len(items):
            raise Mismatch(f"expected {len(items)} items, got {len(values)}")
        out: List[Any] = []
        try:
            for item, one in zip(items, values):
                out.append(one if item is None else item(one))
        except Mismatch as mismatch:
            raise mismatch.under(f"[{len(out)}]")
        return tuple(out)

    return to_value


def _to_dict(item: Converter) -> Callable[[Any], Any]:
    def to_value(value: Any) -> Dict[str, Any]:
        values = _to_any_dict(value)
        if item is None:
            return values
        out: Dict[str, Any] = {}
        for key, one in values.items():
            try:
                out[key] = item(one)
            except Mismatch as mismatch:
                raise mismatch.under(f".{key}")
        return out

    return to_value


def _to_union(args: Tuple[Any, ...]) -> Converter:
    members = [(arg, _converter(arg)) for arg in args]
    if any(converter is None for _, converter in members):
        return None

    def to_value(value: Any) -> Any:
        for arg, _ in members:  # an exact fit first: 1 is an int of Union[float, int]
            if arg is type(value):
                return value
        problems: List[Mismatch] = []
        for _, converter in members:
            try:
                return converter(value) if converter else value
            except Mismatch as mismatch:
                problems.append(mismatch)
        real = [problem for problem, (arg, _) in zip(problems, members) if arg is not type(None)]
        raise real[0] if len(real) == 1 else Mismatch(" or ".join(problem.text for problem in real))

    return to_value


def _is_typed_dict(annotation: Any) -> bool:
    return dict in annotation.__mro__ and hasattr(annotation, "__total__")


def _to_typed_dict(cls: Any) -> Callable[[Any], Any]:
    fields: Dict[str, Converter] = {}
    required = cls.__required_keys__

    def to_value(value: Any) -> Dict[str, Any]:
        if not fields:
            fields.update((name, _converter(hint)) for name, hint in typing.get_type_hints(cls).items())
        out = dict(_to_any_dict(value))
        for name, field in fields.items():
            if name not in out:
                if name in required:
                    raise Mismatch(f"{name} is missing")
            elif field is not None:
                try:
                    out[name] = field(out[name])
                except Mismatch as mismatch:
                    raise mismatch.under(f".{name}")
        return out

    return to_value


def _substitute(hint: Any, variables: Dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return variables.get(hint, Any)
    inner = getattr(hint, "__parameters__", ())
    if variables and inner and not isinstance(hint, type):
        return hint[tuple(variables.get(variable, Any) for variable in inner)]
    return hint


def _to_dataclass(cls: Any, variables: Dict[Any, Any]) -> Callable[[Any], Any]:
    fields: List[Tuple[str, Converter, bool]] = []

    def look() -> None:
        """At the first use, so that a class may contain itself."""
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            if field.init:
                needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
                fields.append((field.name, _converter(_substitute(hints[field.name], variables)), needed))

    def to_value(value: Any) -> Any:
        if not fields:
            look()
        values = _to_any_dict(value)
        given: Dict[str, Any] = {}
        for name, field, is_needed in fields:
            if name in values:
                try:
                    given[name] = values[name] if field is None else field(values[name])
                except Mismatch as mismatch:
                    raise mismatch.under(f".{name}")
            elif is_needed:
                raise Mismatch(f"{name} is missing")
        try:
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise Mismatch(str(error)) from None

    return to_value


# ---- pydantic -------------------------------------------------------------------------------------


def _has_model(annotation: Any, seen: "set[int]") -> bool:
    """Whether a pydantic model is in it, at any depth; dataclasses are looked into."""
    if "pydantic" not in sys.modules or id(annotation) in seen:
        return False
    seen.add(id(annotation))
    if _is(annotation, type) and hasattr(annotation, "__pydantic_validator__"):
        return True
    if any(_has_model(arg, seen) for arg in typing.get_args(annotation)):
        return True
    cls = typing.get_origin(annotation) or annotation
    if _is(cls, type) and dataclasses.is_dataclass(cls):
        try:
            hints = typing.get_type_hints(cls)
        except Exception:  # a name that is not known here; it is found when it is used
            return False
        return any(_has_model(hint, seen) for hint in hints.values())
    return False


def pydantic_adapter(annotation: Any) -> Any:
    """``pydantic.TypeAdapter(annotation)``, or None without pydantic 2."""
    try:
        import pydantic

        return pydantic.TypeAdapter(annotation)
    except (ImportError, AttributeError):
        return None


def _through_pydantic(annotation: Any) -> Converter:
    adapter = pydantic_adapter(annotation)
    if adapter is None:
        return None

    def to_value(value: Any) -> Any:
        try:
            return adapter.validate_json(json.dumps(value))
        except ValueError as error:  # pydantic's ValidationError is one
            raise Mismatch(str(error)) from None

    return to_value


def _anything_else(annotation: Any) -> Converter:
    """Types that only pydantic knows; without it they get plain JSON."""
    try:
        return _through_pydantic(annotation)
    except Exception:  # pydantic does not know the type either
        return None
