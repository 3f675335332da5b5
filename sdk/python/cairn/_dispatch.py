# SPDX-License-Identifier: Apache-2.0
"""The dispatcher: takes what has come, sends what is due, sleeps.

Its thread sends reports, and claims with them as many tasks as have places.  A second thread makes the
claims that wait.  So neither an outcome nor a free place ever waits for the other.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, List, NamedTuple, Optional, Set, Tuple

from cairn import errors
from cairn._call import Bound, missing_of, refused, release_of
from cairn._ffi import Claim, Native, RawTask, Report
from cairn._held import Bell, Held
from cairn._keeper import Keeper
from cairn._pool import Pool
from cairn._task import Task
from cairn._tell import label

if TYPE_CHECKING:
    from cairn._worker import Worker

_log = logging.getLogger("cairn.worker")

_WAIT_MS = 20_000  # of a claim that waits
_IDLE_WAIT_MS = 1000  # the same until idle
_REPORT_BYTES = 256 * 1024  # of one request, beyond its first outcome
_FIRST_REST, _LONGEST_REST = 0.05, 5.0
_LAST_CHANCE = 1.0  # seconds from "shutdown" to the release of what still runs
_WAKE_AGAIN = 0.02  # a wake ends only claims that wait already

_LOST = ("lease_lost", "wrong_state", "not_found")
_BAD = ("bad_input", "bad_json", "too_large")
_SHUT_OUT = ("unauthorized", "forbidden", "closed")


def may_pass(error: errors.CairnError) -> bool:
    """Whether the store may answer later."""
    return (error.is_retryable or error.code == "out_of_memory") and error.code != "closed"


class Rest:
    """How long to leave the store alone after an error: longer each time."""

    def __init__(self) -> None:
        self.until = 0.0
        self._length = 0.0

    def begin(self) -> None:
        """After an error."""
        self._length = min(_LONGEST_REST, self._length * 2 or _FIRST_REST)
        self.until = time.monotonic() + self._length

    def end(self) -> None:
        """After a success."""
        self._length = self.until = 0.0

    @property
    def left(self) -> float:
        """Seconds."""
        return self.until - time.monotonic()


class Answer(NamedTuple):
    """What a waiting claim has brought."""

    slots: int
    tasks: List[RawTask]
    error: Optional[errors.CairnError]


class Claimer:
    """The thread that makes claims that wait."""

    def __init__(self, native: Native, claim: Claim, worker: bytes, answered: Callable[[Answer], None]) -> None:
        self._native = native
        self._claim = claim
        self._worker = worker
        self._answered = answered
        self._orders: "queue.SimpleQueue[Optional[Tuple[int, int]]]" = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"{worker.decode()}-claim", daemon=True)
        self._thread.start()

    def order(self, slots: int, wait_ms: int) -> None:
        """Claims in the background."""
        self._orders.put((slots, wait_ms))

    def wake(self) -> None:
        """Ends the claim that waits, if it waits already."""
        try:
            self._native.wake(self._worker)
        except errors.CairnError:
            pass  # it is being closed, which ends the claim as well

    def stop(self) -> None:
        """Ends the thread, when no claim is under way."""
        self._orders.put(None)
        self._thread.join()

    def _run(self) -> None:
        order = self._orders.get()
        while order is not None:
            slots, wait_ms = order
            try:
                self._answered(Answer(slots, self._native.claim(self._claim, slots, wait_ms), None))
            except errors.CairnError as error:
                self._answered(Answer(slots, [], error))
            order = self._orders.get()


class Dispatcher:
    """What a worker does between its start and its end."""

    def __init__(self, worker: "Worker", claims: Tuple[Claim, Claim], is_until_idle: bool,
                 drain_outbox: Optional[Callable[[], int]]) -> None:
        engine = worker.engine
        self._worker = worker
        self._native: Native = engine.native
        self._name = worker.name.encode()
        self._claim = claims[0]
        self._is_until_idle = is_until_idle
        self._drain_outbox = drain_outbox
        self._capacity = worker.concurrency + worker.prefetch
        self._max_batch = engine.max_batch
        self._bell = Bell()
        self._held: Set[Held] = set()
        self._finished: Deque[Held] = deque()
        self._answers: Deque[Answer] = deque()
        self._unreported: Deque[Held] = deque()
        self._promised = 0  # places for the tasks of the claim under way
        self._claim_out = False
        self._is_patient = False  # that claim waits for more than the pause between two looks
        self._claim_rest, self._report_rest = Rest(), Rest()
        self._is_empty = False  # the latest claim brought nothing
        self._is_away = False  # the store does not answer
        self._pause_ms = 0
        self._grace_until: Optional[float] = None
        self._shutdown_at: Optional[float] = None
        self.is_ending = False
        self.count = 0
        self.error: Optional[BaseException] = None
        self.pool = Pool(worker.name, worker.concurrency, worker.app.arounds, worker.run_function,
                         worker.run_function_async, self._take_finished)
        self.keeper = Keeper(self._native, self._name, worker.lease_ms, worker.look, self.pool.interrupt)
        self._claimer = Claimer(self._native, claims[1], self._name, self._take_answer)

    # ---- called by other threads

    def poke(self) -> None:
        """Something has changed."""
        self._bell.ring()

    def _take_finished(self, held: Held) -> None:
        self._finished.append(held)
        self._bell.ring()

    def _take_answer(self, answer: Answer) -> None:
        self._answers.append(answer)
        self._bell.ring()

    # ---- the loop

    def run(self) -> None:
        """Works until it is stopped, or until nothing is left to do."""
        self.keeper.start()
        try:
            while True:
                self._take()
                self._obey_stop()
                self._send_reports()
                self._check_idle()
                self._send_claim()
                if self.is_ending and not (self._held or self._unreported or self._claim_out):
                    return
                self._bell.wait(self._sleep())
        finally:
            self.keeper.stop()
            self._claimer.stop()
            self.pool.stop()

    def _sleep(self) -> Optional[float]:
        """How long nothing can be due; None: until the bell rings."""
        dues: List[float] = []
        now = time.monotonic()
        if self._unreported:
            dues.append(self._report_rest.until)
        if not self.is_ending and not self._claim_out and self._free():
            dues.append(self._claim_rest.until)
        if self._claim_out and (self.is_ending or (self._is_patient and self._is_done())):
            dues.append(now + _WAKE_AGAIN)
        if self._grace_until is not None and self._held:
            dues.append(self._grace_until)
        return max(0.0, min(dues) - now) if dues else None

    def _fail(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error
        self.is_ending = True

    # ---- what has come

    def _take(self) -> None:
        while self._finished:
            self._end_one(self._finished.popleft())
        while self._answers:
            self._end_claim(self._answers.popleft())

    def _end_one(self, held: Held) -> None:
        if held.is_over:
            return  # it was released while it ran
        self._drop(held)
        self.count += 1
        if held.report is not None:
            self._unreported.append(held)
        if isinstance(held.error, errors.CairnError) and held.error.code in _SHUT_OUT:
            self._fail(held.error)

    def _end_claim(self, answer: Answer) -> None:
        self._claim_out = False
        self._promised = 0
        if answer.error is None:
            self._is_back()
            self._claim_rest.end()
            self._begin(answer.tasks)
        elif may_pass(answer.error):
            self._gone_away(answer.error)
            self._claim_rest.begin()
        elif not (self.is_ending and answer.error.code == "closed"):
            self._fail(answer.error)

    def _gone_away(self, error: errors.CairnError) -> None:
        if not self._is_away:
            _log.warning("the store does not answer, and is waited for: %s", error.message)
        self._is_away = True

    def _is_back(self) -> None:
        if self._is_away:
            _log.info("the store answers again")
        self._is_away = False

    def _begin(self, tasks: List[RawTask]) -> None:
        self._is_empty = not tasks
        if not tasks:
            return
        self._pause_ms = 0
        begin: List[Held] = []
        for raw in tasks:
            held = self._worker.hold(raw)
            if held.bound is None and held.function is None:
                self._give_back(held, missing_of(raw))
            elif self.is_ending:
                self._give_back(held, release_of(raw))
            else:
                self._held.add(held)
                self.keeper.keep(held)
                begin.append(held)
        self.pool.add(begin)

    def _drop(self, held: Held) -> None:
        """It is not executed any more: its lease ends when it ends."""
        self._held.discard(held)
        held.lease_until = time.monotonic() + self.keeper.leave(held)

    def _give_back(self, held: Held, report: Report) -> None:
        held.drop_page()
        held.lease_until = held.lease_until or time.monotonic() + self._worker.lease_ms / 1000
        held.report = report
        self._unreported.append(held)

    # ---- stopping

    def _obey_stop(self) -> None:
        stop_at = self._worker.stop_asked()
        if stop_at is None and not self.is_ending:
            return
        self.is_ending = True
        for held in self.pool.take_ready():
            self._drop(held)
            self._give_back(held, release_of(held.raw))
        if self._claim_out:
            self._claimer.wake()
        if not self._held or stop_at is None:
            return
        now = time.monotonic()
        self._grace_until = stop_at
        if now < stop_at:
            return
        if self._shutdown_at is None:
            self._shutdown_at = now
            for held in list(self._held):
                self.pool.interrupt(held, "shutdown")
        self._grace_until = self._shutdown_at + _LAST_CHANCE
        if now >= self._grace_until:
            self._abandon()

    def _abandon(self) -> None:
        """Handlers that do not end: their tasks are released, and what they say later is not heard."""
        self._take()
        for held in list(self._held):
            held.is_over = True
            held.task.log.warning("%s did not end in time, and is released", label(held.task))
            self._drop(held)
            held.report = release_of(held.raw)
            self._unreported.append(held)

    # ---- reports

    def _next_reports(self) -> List[Held]:
        """As many as fit; one that was refused together with others goes by itself."""
        batch: List[Held] = []
        size = 0
        while self._unreported and len(batch) < self._max_batch:
            held = self._unreported[0]
            assert held.report is not None
            size += held.report.weight()
            if batch and (size > _REPORT_BYTES or held.is_alone or batch[0].is_alone):
                break
            batch.append(self._unreported.popleft())
        return batch

    def _send_reports(self) -> None:
        while self._unreported and self._report_rest.left <= 0:
            batch = self._next_reports()
            slots = 0 if self.is_ending or batch[0].is_alone or self._claim_rest.left > 0 else self._free()
            try:
                results, tasks = self._native.report(
                    self._name, [held.report for held in batch if held.report is not None], self._claim, slots)
            except errors.CairnError as error:
                self._not_sent(batch, slots, error)
                continue
            self._is_back()
            self._report_rest.end()
            late = [self._settle(held, result) for held, result in zip(batch, results)]
            if any(late):
                self._report_rest.begin()
            if slots:
                self._begin(tasks)
            self._take()

    def _not_sent(self, batch: List[Held], slots: int, error: errors.CairnError) -> None:
        if may_pass(error):
            self._gone_away(error)
        elif error.code not in _SHUT_OUT and (len(batch) > 1 or slots):
            for held in reversed(batch):  # one bad outcome, or the claim beside it: each by itself
                held.is_alone = True
                self._unreported.appendleft(held)
            return
        late = [self._settle(held, error) for held in batch]
        if any(late):
            self._report_rest.begin()

    def _settle(self, held: Held, error: Optional[errors.CairnError]) -> bool:
        """What became of one outcome; True: it is to be sent again later."""
        if error is None:
            return False
        if error.code in _SHUT_OUT:
            self._fail(error)
            return False
        if error.code in _LOST or time.monotonic() > held.lease_until:
            level = logging.DEBUG if held.task.stop is not None else logging.WARNING
            _log.log(level, "the outcome of %s came too late: %s", label(held.task), error.message)
            return False
        if error.code in _BAD:
            assert held.report is not None
            held.report = refused(held, held.report, error)
            if held.report is not None:
                self._unreported.append(held)
            return False
        self._unreported.append(held)
        return True

    # ---- claims

    def _free(self) -> int:
        return min(self._max_batch, max(0, self._capacity - len(self._held) - self._promised))

    def _send_claim(self) -> None:
        slots = self._free()
        if self.is_ending or self._claim_out or slots == 0 or self._claim_rest.left > 0:
            return
        wait_ms = _WAIT_MS
        if self._is_until_idle:
            wait_ms = _IDLE_WAIT_MS if self._held else self._pause_ms
        self._is_patient = bool(self._held)
        self._promised = slots
        self._claim_out = True
        self._claimer.order(slots, wait_ms)

    def _is_done(self) -> bool:
        """Until idle: nothing of its own is left."""
        return self._is_until_idle and not self._held and not self._unreported

    def _check_idle(self) -> None:
        if self.is_ending or not self._is_done():
            return
        if self._claim_out:
            if self._is_patient:
                self._claimer.wake()
            return
        if not self._is_empty:
            return
        self._is_empty = False
        if self._drain_outbox is not None and self._drain_outbox():
            return
        try:
            is_idle = self._native.is_idle(self._claim)
        except errors.CairnError as error:
            if may_pass(error):
                self._claim_rest.begin()
                return
            is_idle = True  # a token that may not ask: the empty claim must do
        self.is_ending = is_idle
        self._pause_ms = min(_IDLE_WAIT_MS, self._pause_ms * 2 or 50)


def bind(worker: "Worker", raw: RawTask, bounds: "dict[str, Optional[Bound]]") -> Held:
    """The task with the code that executes it."""
    task = Task(raw, worker.name, worker.state, worker.engine, worker.engine.codec)
    if raw.kind == "function":
        return Held(raw, task, None, worker.app.find_function(raw.type, raw.version))
    if raw.type not in bounds:
        found = worker.app.find(raw.type)
        bounds[raw.type] = None if found is None else Bound(found, worker.engine.codec)
    return Held(raw, task, bounds[raw.type], None)


__all__: List[Any] = ["Dispatcher", "bind"]
