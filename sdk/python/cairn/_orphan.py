# SPDX-License-Identifier: Apache-2.0
"""The processes of ``--processes``: none outlives the one that started it, however that ends."""

from __future__ import annotations

import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def follow(parent: int, pipe: int) -> None:
    """Stops this process as SIGTERM does when its parent ends: by the kernel, or by a pipe where that cannot do it.

    ``pipe`` is the end to read of one whose other end the parent alone has.
    """
    if not _ask_kernel():
        threading.Thread(target=_watch, args=(pipe,), name="cairn-parent", daemon=True).start()
    if os.getppid() != parent:  # it ended before the kernel was asked
        stop()


def stop() -> None:
    """As if somebody had sent SIGTERM."""
    os.kill(os.getpid(), signal.SIGTERM)


def _ask_kernel() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _watch(pipe: int) -> None:
    os.read(pipe, 1)  # nobody writes: it returns when the last writer is gone
    stop()
