#!/usr/bin/env python3
# tests/kill/test_bulk.py - a bulk action whose server is killed goes on where it was.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_bulk.py CAIRN sqlite|postgres

A server cancels many jobs and is killed again and again on the way.  In the end every job that was there at
the beginning has been cancelled once, which its events tell, and no other was touched.  The output is TAP.
"""
import collections
import json
import shutil
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, say     # pylint: disable=wrong-import-position

TIMEOUT = 300               # of the test, not of a lease
JOBS, KILLS = 600, 2


def get(url):
    with urllib.request.urlopen(url, timeout=stage.PATIENCE) as answer:
        return json.loads(answer.read())


def ask(url, is_wanted):
    """The action, once it is as wanted.  A server that is just starting is asked again."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        try:
            action = get(url)
            if is_wanted(action):
                return action
        except OSError:
            pass
        time.sleep(0.02)
    raise RuntimeError(f'stuck: {url}')


def events(url):
    """How often each job was cancelled."""
    counts, cursor = collections.Counter(), '0'
    while True:
        page = get(f'{url}/v1/events?cursor={cursor}&limit=1000')
        counts.update(event['subject'] for event in page['items'] if event['type'] == 'cancelled')
        if not page['items']:
            return counts
        cursor = page['next']


def play(checks, server, url):
    server.start()
    ask(f'{url}/v1/clock', lambda answer: True)
    ids = [job['id'] for _ in range(JOBS // 200)
           for job in post(f'{url}/v1/jobs', {'jobs': [{'type': 'a'}] * 200})['items']]
    begun = post(f'{url}/v1/bulk', {'on': 'jobs', 'action': 'cancel', 'filter': {'type': 'a'},
                                    'per_second': 100})
    target = f'{url}/v1/bulk/{begun["id"]}'
    later = post(f'{url}/v1/jobs', {'type': 'a'})['id']
    for kill in range(KILLS):
        before = ask(target, lambda action: action['done'] >= 100 * (kill + 1))
        server.kill()
        say(f'killed after {before["done"]} of {JOBS}')
        server.start()
    action = ask(target, lambda action: action['status'] != 'running')
    counts = events(url)
    checks.check('it is done', action['status'] == 'done' and action['done'] == JOBS, action)
    checks.check('nothing was skipped', action['skipped'] == {}, action['skipped'])
    checks.check('each job was cancelled once', counts == {job: 1 for job in ids},
                 {job: count for job, count in counts.items() if count != 1})
    checks.check('what came later was not touched',
                 get(f'{url}/v1/jobs/{later}')['status'] == 'pending', later)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print('1..4', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-bulk-', dir='/tmp')
    store = (stage.Sqlite if sys.argv[2] == 'sqlite' else stage.Postgres)(folder)
    url = f'http://127.0.0.1:{stage.free_port()}'
    server = stage.Process('serve', [sys.argv[1], 'serve', '--url', store.url, '--listen', url[7:]],
                           folder)
    try:
        play(checks, server, url)
    finally:
        server.end()
        server.log.close()
        store.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
