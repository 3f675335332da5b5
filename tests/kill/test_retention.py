#!/usr/bin/env python3
# tests/kill/test_retention.py - servers that purge are killed: what goes is gone whole, what is open stays.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_retention.py CAIRN sqlite|postgres

Two servers on one store remove what ended a second ago, while jobs and instances are recorded and worked off through both.
They are killed with SIGKILL at random.  In the end nothing that has ended is left, no row is left of it, what is open has its
whole history, and keys answer the old ids.  The output is TAP.
"""
import itertools
import random
import shutil
import sys
import tempfile
import time
import urllib.error

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, put, say     # pylint: disable=wrong-import-position

TIMEOUT = 300               # of the test
BATCHES, KILLS = (60, 60) if stage.IS_LONG else (12, 10)
JOBS = 60                   # in a batch, and a tenth as many instances
LEASE_MS = 5000             # on a slow machine, too, a report of many comes in time
KEEP_MS = 1000
ATTEMPTS = 1000             # a lease that is lost costs one
FLOW = {'workflow': 'flow', 'version': 1, 'steps': [{'step': name, 'max_attempts': ATTEMPTS} for name in ('one', 'two')]}
FAN = {'workflow': 'fan', 'version': 1, 'steps': [
    {'map': 'each', 'over': '{{ . }}', 'max_parallel': 1000, 'collect': False,
     'steps': [{'step': 'one', 'max_attempts': ATTEMPTS}]}]}
ELEMENTS = 350              # of each of FANS: more than go in one commit
FANS = 6 if stage.IS_LONG else 2
WAIT = {'workflow': 'wait', 'version': 1, 'steps': [{'wait': 'word', 'event': 'word'}]}

# Each finds nothing when all is well.
SUBJECTS = 'SELECT id FROM workflow.workflow_instance UNION ALL SELECT id FROM workflow.workflow_run'
WRONG = {
    **{f'no_row_of_{table}_is_left_behind':
       f'SELECT instance_id FROM workflow.{table} WHERE instance_id NOT IN (SELECT id FROM workflow.workflow_instance)'
       for table in ('workflow_signal', 'workflow_outbox', 'workflow_dlq', 'workflow_log')},
    'no_child_is_left_behind':
        'SELECT id FROM workflow.workflow_instance WHERE parent IS NOT NULL '
        'AND parent NOT IN (SELECT id FROM workflow.workflow_instance)',
    'no_purge_is_left_unfinished': 'SELECT id FROM workflow.workflow_purge',
    'no_step_is_left_behind': None,      # STEPS
    'no_event_is_left_behind':
        f'SELECT workflow_id FROM workflow.workflow_event_stream WHERE workflow_id NOT IN ({SUBJECTS})',
    'no_tag_is_left_behind':
        "SELECT seq FROM workflow.workflow_tag WHERE kind = 'job' AND seq NOT IN (SELECT seq FROM workflow.workflow_run)",
    'no_mark_is_left_behind':
        'SELECT log_id FROM workflow.workflow_event_gone WHERE log_id NOT IN (SELECT id FROM workflow.workflow_event_log)',
    'what_stays_has_its_history':
        'SELECT r.id FROM workflow.workflow_run r WHERE r.event_count <> '
        '(SELECT count(*) FROM workflow.workflow_event e WHERE e.workflow_id = r.id)',
}
STEPS = {
    'sqlite': 'SELECT id FROM workflow_step WHERE id >> 20 NOT IN (SELECT seq FROM workflow_instance)',
    'postgres': 'SELECT instance_id FROM workflow.workflow_step '
                'WHERE instance_id NOT IN (SELECT id FROM workflow.workflow_instance)',
}


class Asker:
    """Asks the servers by turns until one answers."""

    def __init__(self, urls):
        self.urls = itertools.cycle(urls)

    def ask(self, path, body, how=post):
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                url = next(self.urls) + path
                return how(url, body)
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise
            except Exception:       # killed before, or while, it spoke
                pass
            time.sleep(0.02)
        raise RuntimeError(f'nobody answers {path}')


def work_off(asker):
    """Claims and completes until nothing is left but what nobody handles."""
    while True:
        tasks = asker.ask('/v1/tasks/claim', {'worker': 'w', 'types': ['job.%', 'one', 'two'], 'max': 200,
                                              'lease_ms': LEASE_MS})['tasks']
        if not tasks:
            return
        asker.ask('/v1/tasks/report', {'worker': 'w', 'results': [
            {'id': task['id'], 'token': task['token'], 'outcome': 'complete'} for task in tasks]})


def left(store):
    """How much of what does not stay open is still there: also what nobody has ended yet, since its lease has to run out first."""
    return int(store.ask("SELECT (SELECT count(*) FROM workflow.workflow_run WHERE type <> 'open') + "
                         "(SELECT count(*) FROM workflow.workflow_instance WHERE workflow <> 'wait')")[0][0])


def live(asker, servers, store, chance):
    """The keys of jobs with their ids, what stays open, and how often somebody was killed."""
    keys, kills = {}, 0
    opened = asker.ask('/v1/jobs', {'jobs': [{'type': 'open', 'key': f'open-{i}', 'tags': {'of': 'test'}}
                                             for i in range(20)]})['items']
    waiting = [asker.ask('/v1/instances', {'workflow': 'wait', 'key': f'wait-{i}'})['id'] for i in range(5)]
    for number in range(FANS):
        asker.ask('/v1/instances', {'workflow': 'fan', 'key': f'fan-{number}', 'input': list(range(ELEMENTS))})
    for batch in range(BATCHES):
        named = [f'{batch}-{number}' for number in range(JOBS)]
        jobs = asker.ask('/v1/jobs', {'jobs': [{'type': 'job.a', 'key': key, 'tags': {'of': 'test'}, 'max_attempts': ATTEMPTS}
                                               for key in named]})
        keys.update(zip(named, (job['id'] for job in jobs['items'])))
        for number in range(JOBS // 10):
            asker.ask('/v1/instances', {'workflow': 'flow', 'key': f'{batch}-{number}'})
        if chance.random() < KILLS / BATCHES:
            kills += kill(servers, chance)
        work_off(asker)
    deadline = time.monotonic() + TIMEOUT
    while (kills < KILLS or left(store)) and time.monotonic() < deadline:
        if kills < KILLS:
            kills += kill(servers, chance)
        work_off(asker)
        time.sleep(store.poll_seconds)
    return keys, [job['id'] for job in opened], waiting, kills


def kill(servers, chance):
    victim = chance.choice(servers)
    time.sleep(chance.uniform(0, 0.1))
    victim.kill()
    victim.start()
    return 1


def play(checks, servers, urls, store, kind):
    chance, asker = random.Random(stage.seed()), Asker(urls)
    for server in servers:
        server.start()
    for definition in (FLOW, FAN, WAIT):
        asker.ask('/v1/workflows', definition)
    asker.ask('/v1/retention', {'jobs': {'succeeded': KEEP_MS}, 'instances': {'completed': KEEP_MS}}, put)
    keys, opened, waiting, kills = live(asker, servers, store, chance)
    say(f'{len(keys)} jobs, {kills} kills, {left(store)} left')
    checks.check('what_has_ended_is_gone', left(store) == 0, left(store))
    stay = {row[0] for row in store.ask('SELECT id FROM workflow.workflow_run UNION ALL '
                                        'SELECT id FROM workflow.workflow_instance')}
    checks.check('what_is_open_stays', stay == {*opened, *waiting}, len(stay))
    some = chance.sample(sorted(keys), 50)
    again = asker.ask('/v1/jobs', {'jobs': [{'type': 'job.a', 'key': key} for key in some]})['items']
    checks.check('keys_answer_the_old_ids', all(job['existing'] and job['id'] == keys[key]
                                                for key, job in zip(some, again)), again[:3])
    for name, sql in WRONG.items():
        found = store.ask(sql or STEPS[kind])
        checks.check(name, not found, found[:5])
    checks.check('the_store_is_intact', store.is_intact(), None)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print(f'1..{4 + len(WRONG)}', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-retention-', dir='/tmp')
    store = (stage.Sqlite if sys.argv[2] == 'sqlite' else stage.Postgres)(folder)
    urls = [f'http://127.0.0.1:{stage.free_port()}' for _ in range(2)]
    servers = [stage.Process(f'serve{number}', [sys.argv[1], 'serve', '--url', store.url, '--listen', url[7:]], folder)
               for number, url in enumerate(urls)]
    try:
        play(checks, servers, urls, store, sys.argv[2])
    finally:
        for server in servers:
            server.end()
            server.log.close()
        store.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
