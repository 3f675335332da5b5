#!/usr/bin/env python3
# tests/kill/test_idle.py - a restarted server that nobody asks anything applies every timer.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_idle.py CAIRN sqlite|postgres

Timers of every kind are set, the server is killed and started again.  From then on the test only
follows the event stream: each timer must be told there.  On PostgreSQL a worker in plain SQL leases
a job while the server is idle, and dies.  The output is TAP.
"""
import json
import shutil
import sys
import tempfile
import time
import urllib.request
from datetime import datetime, timedelta

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, say     # pylint: disable=wrong-import-position

TIMEOUT = 180               # of the test, not of a timer
SLEEP = {'workflow': 'nap', 'version': 1, 'steps': [{'sleep': 'a', 'for': '3s'}]}
WAIT = {'workflow': 'ask', 'version': 1, 'steps': [{'wait': 'a', 'event': 'e', 'timeout': '3s'}]}
LATER = {'workflow': 'later', 'version': 1, 'steps': [{'save_point': 'a'}]}


def wait_until_ready(url):
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f'{url}/readyz', timeout=5).read()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError('the server does not become ready')


def follow(url, wanted):
    """Reads the stream until each (subject, event) was there; those that were not."""
    wanted = dict(wanted)
    deadline = time.monotonic() + TIMEOUT
    try:
        with urllib.request.urlopen(f'{url}/v1/stream?cursor=0', timeout=TIMEOUT) as stream:
            while wanted and time.monotonic() < deadline:
                line = stream.readline().decode()
                if not line:
                    break
                if not line.startswith('data:'):
                    continue
                text = line[5:]
                for subject, event in list(wanted.items()):
                    if subject in text and json.loads(text).get('type') == event:
                        del wanted[subject]
    except OSError as error:
        say(f'stream: {error!r}')
    return wanted


def set_timers(url):
    """{subject: the event that tells of its timer}"""
    for workflow in (SLEEP, WAIT, LATER):
        post(f'{url}/v1/workflows', workflow)
    with urllib.request.urlopen(f'{url}/v1/clock', timeout=TIMEOUT) as answer:
        now = datetime.fromisoformat(json.loads(answer.read())['now'][:23] + '+00:00')
    at = (now + timedelta(seconds=3)).isoformat()
    wanted = {
        post(f'{url}/v1/instances', {'workflow': 'nap'})['id']: 'workflow_completed',
        post(f'{url}/v1/instances', {'workflow': 'ask'})['id']: 'workflow_failed',
        post(f'{url}/v1/instances', {'workflow': 'later', 'start_at': at})['id']:
            'workflow_completed',
    }
    job = post(f'{url}/v1/jobs', {'type': 'lost.v1', 'max_attempts': 1})['id']
    wanted[job] = 'failed'
    tasks = post(f'{url}/v1/tasks/claim', {'worker': 'w', 'types': ['lost.v1'],
                                           'lease_ms': 3000})['tasks']
    assert len(tasks) == 1, tasks
    return wanted


def lease_by_sql(store):
    """As a worker in plain SQL does that then dies."""
    job = store.ask("INSERT INTO workflow.workflow_run (type, payload, max_attempts)"
                    " VALUES ('sql.v1', '{}', 1) RETURNING id")[0][0]
    store.ask("UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'psql',"
              f" lease_until = now() + interval '2 seconds' WHERE id = '{job}'")
    return {job: 'failed'}


def play(cairn, kind, folder, checks):
    store = {'sqlite': stage.Sqlite, 'postgres': stage.Postgres}[kind](folder)
    url = f'http://127.0.0.1:{stage.free_port()}'
    server = stage.Process('serve', [cairn, 'serve', '--url', store.url, '--listen', url[7:]],
                           folder)
    try:
        server.start()
        wait_until_ready(url)
        wanted = set_timers(url)
        server.kill()
        server.start()
        wait_until_ready(url)
        left = follow(url, wanted)
        checks.check('an_idle_server_applies_timers_after_a_restart', not left, left)
        if kind == 'postgres':
            left = follow(url, lease_by_sql(store))
            checks.check('a_lease_that_plain_sql_took_is_recovered', not left, left)
    finally:
        if server.popen:
            server.kill()
        if not checks.is_good:
            stage.Scene.show_log(server)
        server.log.close()
        store.stop()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print(f'1..{2 if sys.argv[2] == "postgres" else 1}', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-idle-', dir='/tmp')
    try:
        play(sys.argv[1], sys.argv[2], folder, checks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
