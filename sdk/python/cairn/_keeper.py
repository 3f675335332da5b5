# SPDX-License-Identifier: Apache-2.0
"""Leases, kept by a thread of the library that needs no interpreter, and the thread that hears of stops.

A handler that holds the GIL, however long, so keeps its lease.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from typing import Any, Callable, Dict

from cairn import _abi, errors
from cairn._ffi import Native, error_of
from cairn._held import Held

_log = logging.getLogger("cairn.worker")
_REF = ctypes.byref
_ROOM = 64  # stops that are taken at once
_WAIT_MS = 60_000


class Keeper:
    """Keeps the leases of a worker's tasks, and interrupts those that are not wanted any more."""

    def __init__(self, native: Native, worker: bytes, lease_ms: int, look: float,
                 interrupt: Callable[[Held, str], None]) -> None:
        self._native = native
        self._lib: Any = native.lib
        self._worker = worker
        self._lease_ms = lease_ms
        self._look_ms = max(1, min(round(look * 1000), 2 ** 32 - 1))
        self._interrupt = interrupt
        self._held: Dict[int, Held] = {}
        self._pointer = ctypes.c_void_p()
        self._is_ended = False
        self._is_closed = False  # by the end of the engine
        self._lock = threading.Lock()  # of the pointer, against the end of the engine
        self._thread = threading.Thread(target=self._run, name=f"{worker.decode()}-keeper", daemon=True)

    def start(self) -> None:
        """Begins to keep leases."""
        error = _abi.cairn_error()
        self._native.enter()
        try:
            if self._lib.cairn_keeper_start(self._native.pointer, self._worker, self._lease_ms, self._look_ms,
                                            _REF(self._pointer), _REF(error)):
                raise error_of(error)
        finally:
            self._native.leave()
        self._native.keepers.add(self)
        self._thread.start()

    def stop(self) -> None:
        """Ends it, and waits for that."""
        self.end()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            pointer, self._pointer = self._pointer, ctypes.c_void_p()
        self._native.keepers.discard(self)
        if pointer and not self._native.is_forked:
            self._lib.cairn_keeper_free(pointer)

    def end(self, is_closed: bool = False) -> None:
        """Uses the engine no more; leases end by themselves."""
        with self._lock:
            self._is_ended = True
            self._is_closed = self._is_closed or is_closed
            if self._pointer and not self._native.is_forked:
                self._lib.cairn_keeper_stop(self._pointer)

    def keep(self, held: Held) -> None:
        """From now on: a task that was just claimed."""
        error = _abi.cairn_error()
        place = ctypes.c_uint64()
        if self._lib.cairn_keeper_add(self._pointer, held.raw.id, held.raw.token, _REF(place), _REF(error)):
            raise error_of(error)
        held.place = place.value
        self._held[held.place] = held

    def leave(self, held: Held) -> float:
        """Its handler has returned: how many seconds of its lease are left."""
        if self._held.pop(held.place, None) is None:
            return 0.0
        left: int = self._lib.cairn_keeper_remove(self._pointer, held.place)
        return left / 1000

    def _run(self) -> None:
        stops = (_abi.cairn_kept_stop * _ROOM)()
        while not self._is_ended:
            count = self._lib.cairn_keeper_take(self._pointer, _WAIT_MS, stops, _ROOM)
            for stop in stops[:count]:
                held = self._held.get(stop.task)
                if held is not None and not held.is_over and held.task.stop is None:
                    self._tell(held, stop)
        if self._is_closed:
            for held in list(self._held.values()):
                self._interrupt(held, "lease_lost")

    def _tell(self, held: Held, stop: _abi.cairn_kept_stop) -> None:
        word = (stop.stop or b"lease_lost").decode()
        if stop.code:
            code = errors.CODE_OF_NUMBER.get(stop.code, "internal")
            _log.warning("the lease of %s is lost (%s)", held.task, code)
        else:
            _log.info("%s is to stop: %s", held.task, word)
        self._interrupt(held, word)
