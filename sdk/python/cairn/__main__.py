# SPDX-License-Identifier: Apache-2.0
"""The command line: ``python -m cairn work MODULE:APP``.

>>> main(["work", "nowhere:app"])
Traceback (most recent call last):
    ...
SystemExit: cairn: cannot import "nowhere": No module named 'nowhere'
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import subprocess
import sys
from types import FrameType
from typing import List, Optional, Sequence

import cairn
from cairn._logs import set_up
from cairn._orphan import follow


def _parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cairn", description="Workers for durable jobs and workflows.")
    commands = parser.add_subparsers(dest="command", required=True)
    work = commands.add_parser("work", help="execute the handlers of an app")
    work.add_argument("app", metavar="MODULE:APP", help='such as "shop.tasks:app"')
    work.add_argument("--url", help="the store; default: $CAIRN_URL, else sqlite:cairn.db")
    work.add_argument("--concurrency", type=int, default=4, help="handlers at the same time (default: 4)")
    work.add_argument("--processes", type=int, default=1, help="worker processes (default: 1)")
    work.add_argument("--until-idle", action="store_true", help="end when nothing is left to do")
    work.add_argument("--log-format", choices=["text", "json"], default="text",
                      help="lines of the log as text (default), or each as a JSON object")
    work.add_argument("--parent", help=argparse.SUPPRESS)  # PID:PIPE, of a process of --processes
    return parser.parse_args(arguments)


def _load(name: str) -> cairn.App:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise SystemExit(f'cairn: "{name}" is not MODULE:APP, such as "shop.tasks:app"')
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise SystemExit(f'cairn: cannot import "{module}": {error}') from error
    app = getattr(found, attribute, None)
    if not isinstance(app, cairn.App):
        raise SystemExit(f'cairn: "{attribute}" of module "{module}" is not a cairn.App')
    return app


def _work(options: argparse.Namespace) -> int:
    if options.parent:
        parent, pipe = options.parent.split(":")
        follow(int(parent), int(pipe))
    app = _load(options.app)
    set_up(options.log_format)
    try:
        with cairn.open(options.url) as db:
            count = db.work(app, until_idle=options.until_idle, concurrency=options.concurrency)
    except cairn.CairnError as error:
        print(f"cairn: {error}", file=sys.stderr)
        return 1
    logging.getLogger("cairn.worker").info("executed %d tasks", count)
    return 0


def _supervise(options: argparse.Namespace) -> int:
    """Starts the processes anew, not by a fork, and passes signals on."""
    command = [sys.executable, "-m", "cairn", "work", options.app, "--concurrency", str(options.concurrency)]
    command += ["--url", options.url] if options.url else []
    command += ["--until-idle"] if options.until_idle else []
    reader, _ = os.pipe()  # the other end is kept here alone, so that its end is that of this process
    command += ["--log-format", options.log_format, "--parent", f"{os.getpid()}:{reader}"]
    children: List["subprocess.Popen[bytes]"] = []
    is_stopped = False

    def pass_on(number: int, frame: Optional[FrameType]) -> None:
        nonlocal is_stopped
        is_stopped = True
        for child in children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, pass_on)
    # In a process group of their own, so that Ctrl-C reaches them once: from here.
    children.extend(subprocess.Popen(command, start_new_session=True, pass_fds=[reader])
                    for _ in range(options.processes))
    codes = [child.wait() for child in children]
    # A process that was stopped before it had begun to work has ended as it should.
    return max(abs(code) if code != -signal.SIGTERM or not is_stopped else 0 for code in codes)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; answers the exit code."""
    options = _parse(arguments)
    if options.concurrency < 1 or options.processes < 1:
        raise SystemExit("cairn: --concurrency and --processes must be from 1")
    return _work(options) if options.processes == 1 else _supervise(options)


if __name__ == "__main__":
    sys.exit(main())
