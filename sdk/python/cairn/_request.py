# SPDX-License-Identifier: Apache-2.0
"""Bodies and targets of requests, and what an answer means."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from cairn import errors
from cairn._codec import Codec
from cairn._words import UNSET, Duration, Json, Time, Unset, read_json, to_ms, to_time

PAGE = 100
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def is_given(value: Any) -> bool:
    """Whether an argument was given."""
    return not isinstance(value, Unset)


def body_of(members: Dict[str, Any], payload: Optional[Tuple[str, Union[str, Unset]]] = None) -> bytes:
    """A JSON object of the members that are not None, and of a payload that is JSON text already."""
    text = json.dumps({name: value for name, value in members.items() if value is not None}, ensure_ascii=False,
                      separators=(",", ":"))
    if payload is not None and not isinstance(payload[1], Unset):
        text = f'{text[:-1]}{"," if len(text) > 2 else ""}"{payload[0]}":{payload[1]}}}'
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise errors.BadInput(f"a text is not Unicode: {error}") from None


def quote(text: str) -> str:
    """Percent-encoded, for paths and queries.

    >>> quote("billing.%"), quote("a/b c")
    ('billing.%25', 'a%2Fb%20c')
    """
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode())


def target(*path: str, **query: Union[str, int, List[str], None]) -> str:
    """``/v1/`` with path and query.

    >>> target("jobs", "x", limit=3, cursor=None)
    '/v1/jobs/x?limit=3'
    >>> target("jobs", tag=["a:1", "b:2"])
    '/v1/jobs?tag=a%3A1&tag=b%3A2'
    """
    text = "/v1/" + "/".join(quote(part) for part in path)
    given = [f"{name}={quote(str(one))}" for name, value in query.items() if value is not None
             for one in (value if isinstance(value, list) else [value])]
    return f"{text}?{'&'.join(given)}" if given else text


def encode(codec: Codec, value: Any) -> Union[str, Unset]:
    """A payload as JSON text; not given stays so."""
    return value if isinstance(value, Unset) else codec.encode(value)


def error_of(status: int, answer: bytes) -> errors.CairnError:
    """The exception for an answer that says no."""
    try:
        told = json.loads(answer)
        return errors.make(str(told["code"]), str(told.get("message", "")), str(told.get("detail") or ""),
                           str(told.get("hint") or ""), status)
    except (ValueError, KeyError, TypeError):
        return errors.Unreachable(f"the server answered {status}, and not as a Cairn server does",
                                  detail=answer[:200].decode(errors="replace"))


def read(status: int, answer: bytes) -> Json:
    """The JSON of an answer; raises what it says."""
    if status >= 400:
        raise error_of(status, answer)
    return read_json(answer) if answer else None


class When:
    """A time that is given as ``at`` or as ``delay``."""

    def __init__(self, at: Optional[Time], delay: Optional[Duration]) -> None:
        if at is not None and delay is not None:
            raise ValueError("at and delay exclude each other")
        self.at = None if at is None else to_time(at)
        self.delay_ms = None if delay is None else to_ms(delay)


def check_metadata(metadata: Optional[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    """An object, or None."""
    if metadata is not None and not isinstance(metadata, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"metadata is a dict, not {type(metadata).__name__}")
    return metadata or None


def check_tags(tags: Optional[Dict[str, str]]) -> Optional[Dict[str, str]]:
    """Names and texts, or None."""
    if tags is not None and not isinstance(tags, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"tags is a dict, not {type(tags).__name__}")
    return tags or None


def tag_filter(tags: Optional[Dict[str, str]]) -> Optional[List[str]]:
    """As the query of a list has them.

    >>> tag_filter({"customer": "4711"})
    ['customer:4711']
    """
    return [f"{name}:{value}" for name, value in tags.items()] if tags else None


def chunks(items: List[Any], size: int) -> Iterator[List[Any]]:
    """Parts of at most `size`."""
    for begin in range(0, len(items), size):
        yield items[begin:begin + size]


__all__ = ["PAGE", "UNSET", "When", "body_of", "check_metadata", "check_tags", "chunks", "encode", "error_of", "is_given",
           "read", "tag_filter", "target"]
