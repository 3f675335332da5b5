# SPDX-License-Identifier: Apache-2.0
"""Payloads: what JSON they become, and what annotations make of JSON."""

import dataclasses
import datetime as dt
import enum
import json
import sys
import typing
import uuid
from decimal import Decimal
from typing import Any, Dict, Generic, List, Literal, NewType, Optional, Tuple, TypedDict, TypeVar, Union

import pydantic
import pytest

from cairn._codec import DEFAULT
from cairn.errors import BadPayload

T = TypeVar("T")
UTC = dt.timezone.utc


class Colour(enum.Enum):
    RED = "red"
    NONE = None


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Item:
    name: str
    price: Decimal
    colour: Colour = Colour.NONE
    tags: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Tree(Generic[T]):
    value: T
    children: "List[Tree[T]]" = dataclasses.field(default_factory=list)


class Point(TypedDict):
    x: int
    y: int


class Partial(TypedDict, total=False):
    x: int


class Customer(pydantic.BaseModel):
    name: str
    since: dt.datetime


@dataclasses.dataclass
class Order:
    customer: Customer
    count: int


UserId = NewType("UserId", int)


def both_ways(value: Any, annotation: Any) -> Any:
    return DEFAULT.decode(DEFAULT.encode(value), annotation)


@pytest.mark.parametrize("value, text", [
    (None, "null"), (True, "true"), (0, "0"), (2**63 - 1, "9223372036854775807"), (-2**63, "-9223372036854775808"),
    (2**64, "18446744073709551616"), (-10**30, "-1" + "0" * 30),
    (1.5, "1.5"), ("é\"", '"é\\""'), ([], "[]"), ((1, 2), "[1,2]"), ({"a": {}}, '{"a":{}}'),
    (Colour.RED, '"red"'), (Level.LOW, "1"), (Decimal("1.10"), '"1.10"'), (dt.date(2030, 1, 31), '"2030-01-31"'),
    (dt.datetime(2030, 1, 31, tzinfo=UTC), '"2030-01-31T00:00:00Z"'),
    (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    (Item("pen", Decimal(2)), '{"name":"pen","price":"2","colour":null,"tags":[]}'),
    (Customer(name="Ann", since=dt.datetime(2030, 1, 1, tzinfo=UTC)), '{"name":"Ann","since":"2030-01-01T00:00:00Z"}'),
    ([Order(Customer(name="Ann", since=dt.datetime(2030, 1, 1, tzinfo=UTC)), 1)],
     '[{"customer":{"name":"Ann","since":"2030-01-01T00:00:00Z"},"count":1}]'),
])
def test_encode(value, text):
    assert DEFAULT.encode(value) == text


@pytest.mark.parametrize("value", [
    float("nan"), float("inf"), -float("inf"), 2**1024, -10**309, b"bytes", {1: "a"}, {None: 1}, {"s": {1, 2}}, object(),
    Item, dt.datetime(2030, 1, 1), "\ud800", [float("nan")]])
def test_what_has_no_json(value):
    with pytest.raises(BadPayload):
        DEFAULT.encode(value)


def test_a_value_that_contains_itself():
    value: List[Any] = []
    value.append(value)
    with pytest.raises(BadPayload):
        DEFAULT.encode(value)


@pytest.mark.parametrize("value, annotation", [
    (None, None), (None, Optional[int]), (5, Optional[int]), (5, int), (5, UserId), ("a", str), ("a", Any), (True, bool),
    ([1, 2], List[int]), ([1, 2], list), ((1, "a"), Tuple[int, str]), ((1, 2, 3), Tuple[int, ...]), ((), Tuple[()]),
    ({"a": 1}, Dict[str, int]), ({"a": 1}, dict), ({"x": 1, "y": 2}, Point), ({}, Partial),
    ("a", Literal["a", "b"]), (Colour.RED, Colour), (Colour.NONE, Colour), (Level.LOW, Level),
    (Decimal("1.10"), Decimal), (dt.date(2030, 1, 31), dt.date), (dt.datetime(2030, 1, 31, 9, 0, 0, 5, UTC), dt.datetime),
    (uuid.UUID(int=7), uuid.UUID), (Item("pen", Decimal(2), Colour.RED, ["a"]), Item),
    (Tree(1, [Tree(2)]), Tree[int]), ([Item("a", Decimal(1))], List[Item]), (Item("a", Decimal(1)), Union[int, Item]),
    (Order(Customer(name="Ann", since=dt.datetime(2030, 1, 1, tzinfo=UTC)), 1), Order),
    ({"ann": Customer(name="Ann", since=dt.datetime(2030, 1, 1, tzinfo=UTC))}, Dict[str, Customer]),
    ([1], typing.Sequence[int]),
])
def test_both_ways(value, annotation):
    back = both_ways(value, annotation)
    assert back == value and type(back) is type(value)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="written with the syntax of Python 3.10")
def test_unions_as_bars():
    assert both_ways([1, None, "a"], eval("list[int | str | None]")) == [1, None, "a"]


@pytest.mark.parametrize("text, annotation, value", [
    ("12345678901234567890", Any, 12345678901234567890), ("1e30", int, 10**30), ("1e20", Any, 1e20),
    ("1.2345678901234567890123e30", Any, 1234567890123456789012300000000), ("0.10", Any, 0.1), ("6.02e23", float, 6.02e23),
    ('{"a":[1e23]}', Dict[str, List[int]], {"a": [10**23]}), ("1e400", Any, float("inf")),
    ("1e3", int, 1000), ("1", float, 1.0), ("1", Union[float, int], 1), ("1.0", Union[int, float], 1.0),
    ("1", Decimal, Decimal(1)), ("[1]", Tuple[int, ...], (1,)), ('{"x":1,"y":2,"z":3}', Point, {"x": 1, "y": 2, "z": 3}),
    ('{"name":"pen","price":2,"gone":true}', Item, Item("pen", Decimal(2))), ("[1]", typing.Set[int], {1}),
])
def test_decode(text, annotation, value):
    back = DEFAULT.decode(text, annotation)
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("text, annotation, problem", [
    ("1", str, "expected str, got a number"), ("true", int, "expected int"), ("1.5", int, "expected int"),
    ('"1"', int, "expected int, got text"), ("null", int, "got null"), ("1", bool, "expected bool"),
    ('{"a": ["x"]}', Dict[str, List[int]], "a[0]: expected int"), ("[1]", Tuple[int, int], "expected 2 items, got 1"),
    ("{}", Point, "x is missing"), ('{"x":1,"y":"a"}', Point, "y: expected int"), ('"c"', Literal["a", "b"], "none of"),
    ("1", Literal[True], "none of"), ('"blue"', Colour, "no Colour"), ('{"name":"pen"}', Item, "price is missing"),
    ('{"name":"pen","price":"x"}', Item, "price: expected a decimal number"), ('"2030-01-01T00:00:00"', dt.datetime, "time"),
    ('"x"', uuid.UUID, "a UUID"), ('{"value":1,"children":[{"value":"a"}]}', Tree[int], "children[0].value: expected int"),
    ('{"customer":{"name":1},"count":1}', Order, "customer"), ("[]", Item, "expected an object, got a list"),
    ("nonsense", Any, "not JSON"), ('"a"', Union[int, Item], "expected int"), ("7", List[int], "expected a list"),
])
def test_what_does_not_fit(text, annotation, problem):
    with pytest.raises(BadPayload) as caught:
        DEFAULT.decode(text, annotation)
    assert problem in str(caught.value)


def test_a_renamed_class_reads_old_rows():
    @dataclasses.dataclass
    class Renamed:
        name: str
        added: int = 7

    text = DEFAULT.encode(Item("pen", Decimal(2)))
    assert DEFAULT.decode(text, Renamed) == Renamed("pen", 7)
    assert "Item" not in text


def test_types_that_nobody_knows_get_plain_json():
    class Strange:
        pass

    assert DEFAULT.decode('{"a": 1}', Strange) == {"a": 1}


def test_without_pydantic(monkeypatch):
    """Types of the list work; everything else is plain JSON."""
    from cairn import _decode

    monkeypatch.setitem(sys.modules, "pydantic", None)
    _decode._converter.cache_clear()
    try:
        assert DEFAULT.decode("[1]", typing.Set[int]) == [1]
        assert DEFAULT.decode("[1]", List[int]) == [1]
    finally:
        _decode._converter.cache_clear()


def test_large_and_deep_payloads():
    value = {"rows": [{"n": n, "text": "é" * 10} for n in range(2000)]}
    assert json.loads(DEFAULT.encode(value)) == value
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert DEFAULT.decode(DEFAULT.encode(deep), Any) == deep


def test_a_number_with_an_exponent_is_a_float_that_equals_what_was_sent():
    for value in (6.02e23, 1e23, 1e308, -5e300):
        back = both_ways(value, Any)
        assert isinstance(back, float) and back == value and both_ways(back, Any) == value
