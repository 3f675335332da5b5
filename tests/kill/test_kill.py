#!/usr/bin/env python3
# tests/kill/test_kill.py - real processes, killed at random moments while many jobs run.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_kill.py CAIRN sqlite|postgres

A server and several workers, some through the server and some on the store itself, are killed with
SIGKILL again and again, and started again, while a producer enqueues and the workers run 1,200 jobs
(10,000 in a long run).  On PostgreSQL the database is stopped in immediate mode and started again as well.  At the
end every job must have succeeded exactly once in the table.

Who is killed after how many finished jobs comes from a seed, which is printed; CAIRN_KILL_SEED
repeats it.  CAIRN_KILL_JOBS and CAIRN_KILL_KILLS change the numbers.  The output is TAP.
"""
import os
import random
import sys
import threading
import time
import urllib.error

sys.dont_write_bytecode = True      # the sources may not be ours to write to
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, say     # pylint: disable=wrong-import-position

JOBS = int(os.environ.get('CAIRN_KILL_JOBS', '10000' if stage.IS_LONG else '1200'))
KILLS = int(os.environ.get('CAIRN_KILL_KILLS', '60' if stage.IS_LONG else '16'))
SEED = stage.seed()
BATCH = 100
AHEAD = 600                 # jobs that the producer may be ahead of the workers
WORKERS = 4
HANDLER = 'read -r input || :'      # no process but the shell


class Producer(threading.Thread):
    """Enqueues all jobs, each batch until it is acknowledged.  Keys make repeating harmless."""

    def __init__(self, server_url):
        super().__init__(daemon=True)
        self.server_url, self.repeats, self.refused = server_url, 0, None
        self.finished = 0       # jobs, as far as is known

    def run(self):
        for start in range(0, JOBS, BATCH):
            while start - self.finished > AHEAD:
                time.sleep(0.01)
            jobs = [{'type': f'kill.kind{number % 7}.v1', 'key': f'job-{number}',
                     'payload': {'number': number}, 'max_attempts': 1000}
                    for number in range(start, min(start + BATCH, JOBS))]
            while not self.refused:
                try:
                    post(f'{self.server_url}/v1/jobs', {'jobs': jobs})
                    break
                except urllib.error.HTTPError as error:
                    if error.code != 503:
                        self.refused = f'{error.code}: {error.read(500)!r}'
                    self.repeats += 1
                except OSError:
                    self.repeats += 1
                except Exception as error:      # half an answer: the server died while it spoke
                    say(f'producer: {error!r}')
                    self.repeats += 1
                time.sleep(0.05)


class Scene(stage.Scene):
    def __init__(self, cairn, kind):
        super().__init__(cairn, kind, servers=1, workers=WORKERS)
        self.planned = KILLS
        self.producer = Producer(self.server_urls[0])

    def handlers(self):
        return ['--handle', f'kill.%={HANDLER}']

    def count_sql(self):
        return "SELECT count(*) FROM workflow.workflow_run WHERE status = 'succeeded'"

    def plan(self, chance):
        victims = list(self.processes) + ([None, None] if self.store.restart else [])
        moments = sorted(chance.randrange(1, JOBS * 19 // 20) for _ in range(KILLS))
        return [(moment, [chance.choice(victims)]) for moment in moments]

    def tell(self, finished):
        self.producer.finished = finished
        return not self.producer.refused

    def live(self, chance):
        self.start()
        self.producer.start()
        plan = self.plan(chance)
        finished = self.run(JOBS, plan, [chance.uniform(0, 0.02) for _ in plan], self.tell)
        self.producer.join(5)
        return finished


# Each of these finds nothing when all is well.
WRONG = {
    'no_job_is_left_leased':
        "SELECT id, status FROM workflow.workflow_run WHERE status = 'leased' "
        'OR leased_by IS NOT NULL OR lease_until IS NOT NULL',
    'each_job_has_exactly_one_succeeded_event':
        'SELECT r.id, count(e.id) FROM workflow.workflow_run r LEFT JOIN workflow.workflow_event e '
        "ON e.workflow_id = r.id AND e.event_type = 'succeeded' GROUP BY r.id "
        'HAVING count(e.id) <> 1',
    'each_job_has_exactly_one_created_event':
        'SELECT r.id, count(e.id) FROM workflow.workflow_run r LEFT JOIN workflow.workflow_event e '
        "ON e.workflow_id = r.id AND e.event_type = 'created' GROUP BY r.id "
        'HAVING count(e.id) <> 1',
    'every_claim_ended_in_one_success_or_one_retry':
        "SELECT workflow_id FROM workflow.workflow_event GROUP BY workflow_id HAVING "
        "sum(CASE event_type WHEN 'leased' THEN 1 ELSE 0 END) <> "
        "sum(CASE WHEN event_type IN ('succeeded', 'retried') THEN 1 ELSE 0 END) OR "
        "sum(CASE event_type WHEN 'leased' THEN 1 ELSE 0 END) <> "
        "sum(CASE event_type WHEN 'started' THEN 1 ELSE 0 END)",
    'nothing_happened_after_success':
        "SELECT e.workflow_id FROM workflow.workflow_event e JOIN workflow.workflow_event s "
        "ON s.workflow_id = e.workflow_id AND s.event_type = 'succeeded' WHERE e.id > s.id",
}


def examine(scene, checks, finished):
    ask = scene.store.ask
    checks.check('no_job_is_lost', (rows := ask(
        'SELECT count(*), count(DISTINCT idempotency_key) FROM workflow.workflow_run')) ==
        [(str(JOBS), str(JOBS))], rows)
    checks.check('every_job_succeeded', (rows := ask(
        'SELECT status, count(*) FROM workflow.workflow_run GROUP BY status')) ==
        [('succeeded', str(JOBS))], f'{rows}, {finished} when the clock ran out')
    for name, sql in WRONG.items():
        rows = ask(sql + ' LIMIT 5')
        checks.check(name, not rows, rows)
    lost = ask("SELECT count(*) FROM workflow.workflow_event WHERE event_type = 'retried'")
    say(f'{lost[0][0]} claims were lost to a kill and made again')
    checks.check('the_kills_hit_work_under_way', int(lost[0][0]) > 0, lost)
    checks.check('the_store_is_intact', scene.store.is_intact(), 'damage')


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ('sqlite', 'postgres'):
        sys.exit(__doc__)
    checks = Checks()
    print(f'1..{2 + len(WRONG) + 2 + 4}', flush=True)
    say(f'CAIRN_KILL_SEED={SEED} repeats this')
    scene = Scene(sys.argv[1], sys.argv[2])
    return stage.play(scene, checks, random.Random(SEED),
                      lambda: f'{scene.producer.repeats} repeated enqueues',
                      lambda: scene.producer.refused, examine)


if __name__ == '__main__':
    stage.end_when_told()
    sys.exit(main())
