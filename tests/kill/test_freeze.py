#!/usr/bin/env python3
# tests/kill/test_freeze.py - PostgreSQL is stopped with SIGSTOP while a server works on it.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_freeze.py CAIRN

All processes of a private PostgreSQL are stopped while producers enqueue with keys.  Every call must
be answered within a bound, with 503; /readyz says 503; a second server can be ended meanwhile.  After
SIGCONT everything goes on, and each key is there once.  CAIRN_FREEZE_ROUNDS (1) is how often.
The output is TAP.
"""
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, say     # pylint: disable=wrong-import-position
from test_file import ask       # pylint: disable=wrong-import-position
from test_idle import wait_until_ready      # pylint: disable=wrong-import-position

ROUNDS = int(os.environ.get('CAIRN_FREEZE_ROUNDS', '1'))
BOUND = 120         # seconds: far above retry_ms (10 s), far below "as long as it lasts"
PROBE_BOUND = 5     # seconds: it takes 1 on a machine that is idle
PRODUCERS = 4
LEAST = 20


def state_of(pid):
    """Its state and its parent; nothing if it has gone."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as text:
            state, parent = text.read().rpartition(')')[2].split()[:2]
            return state, int(parent)
    except OSError:
        return None, None


def children(pid):
    """Of the postmaster: all its processes are direct children."""
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and state_of(name)[1] == pid]


def halt(pid):
    """A signal that is sent has not arrived yet."""
    os.kill(pid, signal.SIGSTOP)
    while state_of(pid)[0] not in ('T', 'Z', None):
        time.sleep(0.01)


class Frozen:
    """All processes of the database stand still."""

    def __init__(self, store):
        rows = store.ask("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
        with open(os.path.join(rows[0][0], 'postmaster.pid'), encoding='utf-8') as text:
            self.postmaster = int(text.readline())
        self.stopped = []

    def __enter__(self):
        self.stopped.append(self.postmaster)
        halt(self.postmaster)       # first, so that it starts nobody else
        for pid in children(self.postmaster):
            self.stopped.append(pid)
            halt(pid)
        return self

    def __exit__(self, *_):
        for pid in reversed(self.stopped):
            try:
                os.kill(pid, signal.SIGCONT)
            except OSError:
                pass


class Producer(threading.Thread):
    """Enqueues each key until it is acknowledged."""

    def __init__(self, url, name):
        super().__init__(daemon=True)
        self.url, self.name = url, name
        self.acknowledged, self.strange, self.longest = 0, [], 0.0
        self.refused = threading.Event()
        self.is_over = False

    def run(self):
        while not self.is_over:
            began = time.monotonic()
            status, answer = ask(f'{self.url}/v1/jobs',
                                 {'type': 'a.v1', 'key': f'{self.name}-{self.acknowledged}'})
            self.longest = max(self.longest, time.monotonic() - began)
            if status in (200, 201):
                self.acknowledged += 1
            elif status == 503:
                self.refused.set()
            else:
                self.strange.append((status, answer))


def wait_for_more(producers):
    """Each has LEAST jobs acknowledged from now on."""
    goals = [(producer, producer.acknowledged + LEAST) for producer in producers]
    deadline = time.monotonic() + BOUND
    while any(producer.acknowledged < goal for producer, goal in goals):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def freeze_once(store, url, other, producers, checks):
    for producer in producers:
        producer.refused.clear()
    with Frozen(store):
        refused = [producer.refused.wait(BOUND) for producer in producers]
        checks.check('every_call_is_answered_while_the_database_is_frozen', all(refused), refused)
        began = time.monotonic()
        status, answer = ask(f'{url}/readyz')
        checks.check('readiness_says_so', status == 503 and time.monotonic() - began < BOUND,
                     (status, answer))
        took, said = [], []
        for _ in range(3):
            began = time.monotonic()
            said.append(ask(f'{url}/readyz'))
            took.append(time.monotonic() - began)
        checks.check('a_frozen_database_is_not_ready', all(status == 503 for status, _ in said), said)
        say(f'/readyz took {max(took):.2f} s')
        checks.check('a_probe_is_answered_in_time', max(took) < PROBE_BOUND, took)
        code = other.end()
        checks.check('a_server_can_be_ended_meanwhile', code == 0, code)
    is_moving = wait_for_more(producers)
    wait_until_ready(url)
    checks.check('everything_goes_on_afterwards', is_moving,
                 [producer.acknowledged for producer in producers])
    other.start()


def play(cairn, folder, checks):
    store = stage.Postgres(folder)
    urls = [f'http://127.0.0.1:{stage.free_port()}' for _ in range(2)]
    servers = [stage.Process(f'serve{number}', [cairn, 'serve', '--url', store.url, '--listen',
                                                url[7:]], folder)
               for number, url in enumerate(urls)]
    try:
        for server, url in zip(servers, urls):
            server.start()
            wait_until_ready(url)
        producers = [Producer(urls[0], f'p{number}') for number in range(PRODUCERS)]
        for producer in producers:
            producer.start()
        wait_for_more(producers)
        for _ in range(ROUNDS):
            freeze_once(store, urls[0], servers[1], producers, checks)
            wait_until_ready(urls[1])
        for producer in producers:
            producer.is_over = True
        for producer in producers:
            producer.join(BOUND)
        strange = [producer.strange for producer in producers if producer.strange]
        checks.check('no_call_failed_otherwise', not strange, strange)
        total = sum(producer.acknowledged for producer in producers)
        rows = store.ask('SELECT count(*), count(DISTINCT idempotency_key)'
                         ' FROM workflow.workflow_run')[0]
        say(f'{total} acknowledged, {rows[0]} rows, longest call '
            f'{max(producer.longest for producer in producers):.1f} s')
        checks.check('nothing_is_lost_and_nothing_is_there_twice',
                     rows[0] == rows[1] and total <= int(rows[0]) <= total + PRODUCERS,
                     (total, rows))
        doubled = store.ask("SELECT count(*) FROM (SELECT FROM workflow.workflow_event WHERE"
                            " event_type = 'created' GROUP BY workflow_id HAVING count(*) > 1) x")
        checks.check('each_job_was_created_once', doubled == [('0',)], doubled)
    finally:
        for server in servers:
            if server.popen and server.popen.poll() is None:
                server.kill()
            if not checks.is_good:
                stage.Scene.show_log(server)
            server.log.close()
        store.stop()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print(f'1..{6 * ROUNDS + 3}', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-freeze-', dir='/tmp')
    try:
        play(sys.argv[1], folder, checks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
