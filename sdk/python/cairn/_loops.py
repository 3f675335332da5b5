# SPDX-License-Identifier: Apache-2.0
"""Whether this thread runs an event loop, without importing asyncio."""

from __future__ import annotations

import sys

from cairn import errors


def is_on_loop() -> bool:
    """Whether this thread runs an asyncio event loop."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def refuse_on_loop(name: str, instead: str) -> None:
    """A call that blocks would stop every coroutine of the loop."""
    if is_on_loop():
        raise errors.Misuse(f"{name} blocks, and this thread runs an event loop", hint=f"use {instead}")


def is_cancellation(error: BaseException) -> bool:
    """Whether it is asyncio's CancelledError."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
