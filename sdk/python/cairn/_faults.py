# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a test, and what it came to.  The library decides it; see "Trials" in cairn.h."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping


def _no_rates() -> Dict[str, float]:
    return {}


@dataclass(frozen=True)
class Faults:
    """How often the call of a handler goes wrong, from 0 to 1.

    ========  ==========================================================================================
    fail      it fails, half of the time after the handler has succeeded
    crash     the worker is gone, half of the time after the handler has succeeded; the lease runs out
    timeout   it does not end before its step's ``timeout``; without one it fails
    late      its outcome arrives after the lease has run out, and is refused
    twice     its outcome arrives twice
    restart   the engine is closed and opened again before its outcome arrives
    fail_of   ``{step: rate}`` in place of ``fail``; ``"STEP:undo"`` is a compensation, a job's name is its
              type, and ``%`` at the end stands for all names that begin so
    ========  ==========================================================================================

    A run of a function only crashes: before it begins, or before a step that it has executed is committed.

    >>> from cairn.testing import Faults
    >>> Faults(fail=0.5, fail_of={"refund": 0})
    Faults(fail=0.5, crash=0.02, timeout=0.02, late=0.02, twice=0.02, restart=0.0, fail_of={'refund': 0})
    """

    fail: float = 0.1
    crash: float = 0.02
    timeout: float = 0.02
    late: float = 0.02
    twice: float = 0.02
    restart: float = 0.0
    fail_of: Mapping[str, float] = field(default_factory=_no_rates)

    def as_options(self) -> Dict[str, Any]:
        """Members of cairn_trial_options."""
        rates = ",".join(f"{step}={float(rate)!r}" for step, rate in self.fail_of.items())
        return {"fail": self.fail, "crash": self.crash, "timeout": self.timeout, "late": self.late,
                "twice": self.twice, "restart": self.restart, "fail_of": rates.encode() or None}


@dataclass(frozen=True)
class Verdict:
    """How an instance went, with its children.  A name is ``WORKFLOW.STEP`` if several workflows have the step.

    ``done``: it completed, and no compensation of it has succeeded since; ``undone``: its compensation has succeeded.
    """

    seed: int
    status: str
    called: List[str]
    done: List[str]
    undone: List[str]
    broken: List[str]
    story: List[str]


__all__ = ["Faults", "Verdict"]
