# SPDX-License-Identifier: Apache-2.0
"""The log of ``python -m cairn work``: lines for eyes, or each as a JSON object, as ``cairn work`` writes them."""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Dict

# As `cairn work` names them.
_FACTS = {"type": "cairn_type", "task": "cairn_task", "attempt": "cairn_attempt", "instance_id": "cairn_instance",
          "step": "cairn_step", "key": "cairn_key", "worker": "cairn_worker", "data": "cairn_data"}
_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """A record as one line: ``at``, ``level``, ``event``, ``logger``, the task's facts, ``text``, ``traceback``.

    >>> record = logging.LogRecord("cairn.worker", logging.INFO, "", 0, "executed %d tasks", (3,), None)
    >>> json.loads(JsonFormatter().format(record))["text"]
    'executed 3 tasks'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        facts: Dict[str, Any] = {"at": f"{moment}.{int(record.msecs):03d}Z", "level": record.levelname.lower(),
                                 "event": _event(record), "logger": record.name}
        for name, field in _FACTS.items():
            value = getattr(record, field, None)
            if value is not None:
                facts[name] = value
        facts["text"] = record.getMessage()
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts, default=str)


def _event(record: logging.LogRecord) -> str:
    if record.name == "cairn.run":
        return "run"
    return "task" if hasattr(record, "cairn_task") else "worker"


def set_up(format: str) -> None:
    """Writes what is logged to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if format == "json" else logging.Formatter(_TEXT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
