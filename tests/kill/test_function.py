#!/usr/bin/env python3
# tests/kill/test_function.py - real processes, killed at random moments while functions run.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_function.py CAIRN WORKER sqlite|postgres

Many instances of two functions (function_worker.c: the same code in both commit modes) are started
and signalled, while servers and workers are killed with SIGKILL and started again.  At the end every
instance must have completed, and everything that it remembers must have been committed once.

Who is killed when comes from a seed, which is printed; CAIRN_KILL_SEED repeats it.
CAIRN_KILL_FUNCTIONS and CAIRN_KILL_KILLS change the numbers.  The output is TAP.
"""
import collections
import itertools
import os
import random
import sys
import threading
import time
import urllib.error

sys.dont_write_bytecode = True      # the sources may not be ours to write to
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, Process, post, say     # pylint: disable=wrong-import-position

SEED = stage.seed()
SIZES = {       # instances, kills
    'postgres': (600, 30) if stage.IS_LONG else (200, 12),
    'sqlite': (300, 20) if stage.IS_LONG else (150, 12),
}
SERVERS, WORKERS = 1, 4
AHEAD = 80                  # instances that may be under way
MODES = ('trip_step', 'trip_passage')
STEPS = ('pack', 'shaky', 'leg', 'leg#2', 'leg#3')


class Starter(threading.Thread):
    """Starts instances and sends each its signal, until both are acknowledged.  Keys and ids make
    repeating harmless."""

    def __init__(self, url, total):
        super().__init__(daemon=True)
        self.url, self.total, self.finished = url, total, 0
        self.repeats, self.refused, self.is_over = 0, None, False

    def ask(self, path, body):
        while not self.refused and not self.is_over:
            try:
                return post(self.url + path, body)
            except urllib.error.HTTPError as error:
                if error.code not in (404, 503):        # 404: no worker has deployed it yet
                    self.refused = f'{path}: {error.code}: {error.read(500)!r}'
            except OSError:
                pass
            except Exception as error:      # half an answer: the server died while it spoke
                say(f'{path}: {error!r}')
            self.repeats += 1
            time.sleep(0.05)
        return {}

    def run(self):
        for number in range(self.total):
            while number - self.finished > AHEAD and not self.is_over:
                time.sleep(0.01)
            started = self.ask('/v1/instances', {'workflow': MODES[number % 2],
                                                 'key': f'trip-{number}'})
            if started:
                self.ask(f'/v1/instances/{started["id"]}/signal', {'event': 'go', 'id': 'go'})


class Scene(stage.Scene):
    def __init__(self, cairn, worker, kind):
        total, kills = SIZES[kind]
        self.total = int(os.environ.get('CAIRN_KILL_FUNCTIONS', total))
        self.planned = int(os.environ.get('CAIRN_KILL_KILLS', kills))
        super().__init__(cairn, kind, SERVERS, 0)
        self.calls = os.path.join(self.folder, 'calls')
        urls = itertools.cycle(self.server_urls + [self.store.url])
        self.workers += [Process(f'work{number}', [worker, next(urls), self.calls], self.folder)
                         for number in range(WORKERS)]
        self.processes = self.servers + self.workers
        self.starter = Starter(self.server_urls[0], self.total)

    def handlers(self):
        return []

    def count_sql(self):
        return ('SELECT count(*) FROM workflow.workflow_instance '
                "WHERE status IN ('completed', 'failed', 'cancelled', 'aborted')")

    def plan(self, chance):
        """Two of three are workers."""
        moments = sorted(chance.randrange(1, self.total * 19 // 20) for _ in range(self.planned))
        return [(moment, [chance.choice(chance.choice([self.servers, self.workers, self.workers]))])
                for moment in moments]

    def tell(self, finished):
        self.starter.finished = finished
        return not self.starter.refused

    def live(self, chance):
        self.start()
        self.starter.start()
        plan = self.plan(chance)
        finished = self.run(self.total, plan, [chance.uniform(0, 0.2) for _ in plan], self.tell)
        self.starter.is_over = True
        self.starter.join(25)
        return finished

    def read_calls(self):
        """How often each (instance, step) was called."""
        with open(self.calls, encoding='utf-8') as file:
            return collections.Counter(tuple(line.split()) for line in file)


# Each of these finds nothing when all is well.
WRONG = {
    'every_instance_completed':
        "SELECT id, status, last_error FROM workflow.workflow_instance WHERE status <> 'completed'",
    'each_remembered_step_was_completed_by_one_commit':
        'SELECT workflow_id, step, count(*) FROM workflow.workflow_event '
        "WHERE event_type = 'step_completed' GROUP BY workflow_id, step HAVING count(*) <> 1",
    'each_instance_remembers_the_same_nine_things':     # and is itself the tenth
        'SELECT i.id, count(*) FROM workflow.workflow_instance i JOIN workflow.workflow_step s '
        "ON s.instance_seq = i.seq WHERE s.status = 'completed' GROUP BY i.id HAVING count(*) <> 10",
    'each_line_was_logged_once':
        'SELECT instance_id, message, count(*) FROM workflow.workflow_log '
        'GROUP BY instance_id, message HAVING count(*) <> 1',
    'both_lines_were_logged':
        'SELECT i.id, count(l.id) FROM workflow.workflow_instance i LEFT JOIN workflow.workflow_log l '
        'ON l.instance_id = i.id GROUP BY i.id HAVING count(l.id) <> 2',
    'no_signal_was_left_or_lost':
        'SELECT i.id FROM workflow.workflow_instance i LEFT JOIN workflow.workflow_signal g '
        'ON g.instance_id = i.id WHERE g.taken_by IS NULL',
    'no_lease_is_left':
        'SELECT i.id FROM workflow.workflow_instance i JOIN workflow.workflow_step s '
        'ON s.instance_seq = i.seq WHERE s.locked_by IS NOT NULL',
}


def examine(scene, checks, finished):
    ask = scene.store.ask
    checks.check('no_instance_is_lost', (rows := ask(
        'SELECT count(*), count(DISTINCT key) FROM workflow.workflow_instance')) ==
        [(str(scene.total), str(scene.total))], f'{rows}, {finished} when the clock ran out')
    for name, sql in WRONG.items():
        rows = ask(sql + ' LIMIT 5')
        checks.check(name, not rows, rows)
    checks.check('one_job_was_started_by_each', (rows := ask(
        'SELECT count(*) FROM workflow.workflow_run')) == [(str(scene.total),)], rows)

    calls = scene.read_calls()
    ids = [row[0] for row in ask('SELECT id FROM workflow.workflow_instance')]
    wrong = [(each, step) for each in ids for step in STEPS
             if calls[each, step] < (2 if step == 'shaky' else 1)]
    checks.check('nothing_is_remembered_that_was_not_called', not wrong, wrong[:5])
    lost = int(ask("SELECT count(*) FROM workflow.workflow_event WHERE event_type = 'step_retry' "
                   "AND data ->> 'error' = 'LEASE_EXPIRED'")[0][0])
    repeated = {mode: sum(calls[each, step] - (2 if step == 'shaky' else 1)
                          for each, in ask('SELECT id FROM workflow.workflow_instance '
                                           f"WHERE workflow = '{mode}'") for step in STEPS)
                for mode in MODES}
    say(f'{lost} passages were lost to a kill; calls made again: {repeated}')
    checks.check('the_kills_hit_work_under_way', lost > 0, lost)
    checks.check('a_lost_passage_repeats_at_most_one_step_in_step_mode',
                 repeated['trip_step'] <= lost, (repeated, lost))
    checks.check('the_store_is_intact', scene.store.is_intact(), 'damage')


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in SIZES:
        sys.exit(__doc__)
    checks = Checks()
    print(f'1..{4 + 1 + len(WRONG) + 5}', flush=True)
    say(f'CAIRN_KILL_SEED={SEED} repeats this')
    scene = Scene(*sys.argv[1:])
    return stage.play(scene, checks, random.Random(SEED),
                      lambda: f'{scene.starter.repeats} repeated requests',
                      lambda: scene.starter.refused, examine)


if __name__ == '__main__':
    stage.end_when_told()
    sys.exit(main())
