# SPDX-License-Identifier: Apache-2.0
"""Steps of a function side by side.

All begin in the order in which they are written, so that their keys and places are the same in every
run.  Then their code runs together, and each is ended when it returns.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from cairn import errors
from cairn._context import Frame, StepCall
from cairn._steps import StepEnd, answer, check_shutdown, execute, execute_async, finish, leave

if TYPE_CHECKING:
    from cairn._function import AsyncContext


class Gathering:
    """The steps of one gather(): what each has given so far."""

    def __init__(self, frame: Frame, calls: Sequence[StepCall[Any]]) -> None:
        self.frame = frame
        self.calls = list(calls)
        self.begun: List[Tuple[int, int]] = []  # places, and what is being executed there
        self._outputs: Dict[int, bytes] = {}
        self._failures: Dict[int, errors.CairnError] = {}
        self._over: Optional[BaseException] = None  # suspended or stopped

    @property
    def name(self) -> str:
        """For errors."""
        return "gather of " + ", ".join(call.key for call in self.calls)

    def begin(self) -> None:
        """Asks for every step, in the order in which they are written."""
        specs = [call.spec(self.frame.codec) for call in self.calls]
        for place, spec in enumerate(specs):
            try:
                work, output = self.frame.passage.begin_step(spec)
            except errors.StepFailed as failed:
                self._failures[place] = failed
                continue
            except errors.Suspended as over:
                self._over = over  # one is called again later; those that have begun are still executed
                return
            if work is None:
                self._outputs[place] = output
            else:
                self.begun.append((place, work))

    def end(self, place: int, work: int, ended: "Union[StepEnd, BaseException]") -> None:
        """Takes what the code of a step gave."""
        try:
            if isinstance(ended, BaseException):
                self._stopped(work, ended)
            else:
                self._outputs[place] = finish(self.frame, self.calls[place], work, ended)
        except errors.StepFailed as failed:
            self._failures[place] = failed
        except errors.Suspended as over:
            self._over = self._over or over

    def _stopped(self, work: int, why: BaseException) -> None:
        leave(self.frame, work)
        self._over = why

    def result(self) -> Tuple[Any, ...]:
        """The results in the order in which the steps are written; raises the first failure."""
        if self._over is not None:
            raise self._over
        for place in range(len(self.calls)):
            if place in self._failures:
                raise self._failures[place]
        return tuple(answer(self.frame, call, self._outputs[place]) for place, call in enumerate(self.calls))


def gather(frame: Frame, calls: Sequence[StepCall[Any]]) -> Tuple[Any, ...]:
    """In threads."""
    gathering = Gathering(frame, calls)
    frame.enter_call(gathering.name)
    try:
        gathering.begin()
        if gathering.begun:
            check_shutdown(frame)
        ends: "queue.SimpleQueue[Tuple[int, int, Union[StepEnd, BaseException]]]" = queue.SimpleQueue()
        for place, work in gathering.begun:
            context = contextvars.copy_context()
            threading.Thread(target=context.run, args=(_run, frame, gathering.calls[place], place, work, ends.put),
                             name=f"{frame.task.worker}-{gathering.calls[place].key}", daemon=True).start()
        for _ in gathering.begun:
            gathering.end(*ends.get())
    finally:
        frame.leave_call()
    return gathering.result()


def _run(frame: Frame, call: StepCall[Any], place: int, work: int, put: Callable[[Any], None]) -> None:
    try:
        put((place, work, execute(frame, call, work)))
    except BaseException as error:
        put((place, work, error))


async def gather_async(frame: "AsyncContext", calls: Sequence[StepCall[Any]]) -> Tuple[Any, ...]:
    """On the loop."""
    import asyncio

    gathering = Gathering(frame, calls)
    frame.enter_call(gathering.name)
    running: "Dict[asyncio.Task[StepEnd], Tuple[int, int]]" = {}

    def give_up() -> None:
        for task in running:
            task.cancel()

    async def end(task: "asyncio.Task[StepEnd]") -> None:
        place, work = running.pop(task)
        ended = asyncio.CancelledError() if task.cancelled() else task.exception() or task.result()
        try:
            _, is_given_up = await frame.off_loop_whole(lambda: gathering.end(place, work, ended))
        except asyncio.CancelledError:
            is_given_up = True
        if is_given_up:
            give_up()

    try:
        _, is_given_up = await frame.off_loop_whole(gathering.begin)
        if gathering.begun:
            check_shutdown(frame)
        for place, work in gathering.begun:
            running[asyncio.ensure_future(execute_async(frame, gathering.calls[place], work))] = (place, work)
        if is_given_up:
            give_up()
        while running:
            try:
                ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                give_up()
                continue
            for task in ended:
                await end(task)
    finally:
        frame.leave_call()
    return gathering.result()
