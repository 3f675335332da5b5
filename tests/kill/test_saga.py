#!/usr/bin/env python3
# tests/kill/test_saga.py - real processes, killed at random moments while sagas fail and are undone.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_saga.py CAIRN sqlite|postgres

Many instances of saga.yaml, a fifth of whose steps fail, are started, executed, decided about and
undone, while servers and workers are killed with SIGKILL, one of each at a time, and started again.
At the end every instance must have ended, and the rows must say what a saga promises.

Who is killed when, and which calls fail, comes from a seed, which is printed; CAIRN_KILL_SEED
repeats it.  CAIRN_KILL_SAGAS and CAIRN_KILL_KILLS change the numbers.  The output is TAP.
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
from saga_rules import RULES, STEPS, copy, fate_of        # pylint: disable=wrong-import-position
from scene import Checks, post, say     # pylint: disable=wrong-import-position

SEED = stage.seed()
SIZES = {       # instances, kills of a server and a worker, servers, workers
    'postgres': (1000, 40, 2, 4) if stage.IS_LONG else (120, 10, 2, 4),
    'sqlite': (200, 12, 1, 2) if stage.IS_LONG else (80, 8, 1, 2),
}
AHEAD = 60                  # instances that may be under way
STARTERS = 4                # threads that start them
REJECT_SALT = 50            # of no step


class Caller(threading.Thread):
    """Asks the servers in turn, each thing until it has an answer: whoever dies meanwhile."""

    def __init__(self, server_urls):
        super().__init__(daemon=True)
        self.urls = itertools.cycle(server_urls)
        self.repeats, self.refused, self.is_over = 0, None, False

    def ask(self, path, body):
        """The status; 0: given up."""
        while not self.refused and not self.is_over:
            try:
                post(next(self.urls) + path, body)
                return 200
            except urllib.error.HTTPError as error:
                if error.code == 409:
                    return 409
                if error.code != 503:
                    self.refused = f'{path}: {error.code}: {error.read(500)!r}'
            except OSError:
                pass
            except Exception as error:      # half an answer: the server died while it spoke
                say(f'{path}: {error!r}')
            self.repeats += 1
            time.sleep(0.05)
        return 0


class Starter(Caller):
    """Starts instances; keys make repeating harmless."""

    def __init__(self, server_urls, orders):
        super().__init__(server_urls)
        self.orders, self.finished = orders, 0

    def run(self):
        for order in self.orders:
            while order - self.finished > AHEAD and not self.is_over:
                time.sleep(0.01)
            self.ask('/v1/instances', {'workflow': 'order_saga', 'key': f'order-{order}',
                                       'input': {'order': order}})


class Decider(Caller):
    """The human: decides what waits for a decision.  One in eight is rejected."""

    def __init__(self, server_urls, store):
        super().__init__(server_urls)
        self.store, self.answers = store, collections.Counter()

    def waiting(self):
        try:
            return self.store.ask(
                'SELECT i.id, i.key FROM workflow.workflow_instance i JOIN workflow.workflow_step s '
                "ON s.instance_seq = i.seq WHERE s.status = 'waiting_decision'")
        except Exception:
            return []

    def run(self):
        while not self.refused and not self.is_over:
            for instance, key in self.waiting():
                order = int(key.partition('-')[2])
                word = 'rejected' if fate_of(order, REJECT_SALT, SEED)[1] % 8 == 0 else 'confirmed'
                # 409: decided by a call whose answer got lost, or stopped in the meantime.
                self.answers[self.ask(f'/v1/instances/{instance}/steps/approval/decision',
                                      {'decision': word, 'by': 'test'})] += 1
            time.sleep(0.1)


class Scene(stage.Scene):
    def __init__(self, cairn, kind):
        total, kills, servers, workers = SIZES[kind]
        self.total = int(os.environ.get('CAIRN_KILL_SAGAS', total))
        self.pairs = int(os.environ.get('CAIRN_KILL_KILLS', kills))
        self.planned = 2 * self.pairs       # a server and a worker
        super().__init__(cairn, kind, servers, workers)
        self.calls = os.path.join(self.folder, 'calls')
        os.environ.update(SAGA_CALLS=self.calls, SAGA_SEED=str(SEED))
        self.starters = [Starter(self.server_urls, range(number, self.total, STARTERS))
                         for number in range(STARTERS)]
        self.decider = Decider(self.server_urls, self.store)
        self.callers = self.starters + [self.decider]

    def handlers(self):
        script = os.path.join(stage.HERE, 'saga_handler.sh')
        arguments = []
        for salt, step in enumerate(STEPS):
            arguments += ['--handle', f"saga.{step.name}=salt={salt}; . '{script}'"]
            if step.undo_max:
                arguments += ['--handle', f"undo.{step.name}=salt={salt + 100}; . '{script}'"]
        return arguments

    def count_sql(self):
        return ('SELECT count(*) FROM workflow.workflow_instance '
                "WHERE status IN ('completed', 'failed', 'cancelled', 'aborted')")

    def plan(self, chance):
        moments = sorted(chance.randrange(1, self.total * 19 // 20) for _ in range(self.pairs))
        return [(moment, [chance.choice(self.servers), chance.choice(self.workers)])
                for moment in moments]

    def tell(self, finished):
        for starter in self.starters:
            starter.finished = finished
        return not any(caller.refused for caller in self.callers)

    def deploy(self):
        with open(os.path.join(stage.HERE, 'saga.yaml'), encoding='utf-8') as file:
            post(f'{self.server_urls[0]}/v1/workflows', file.read())

    def live(self, chance):
        self.start()
        self.deploy()
        for caller in self.callers:
            caller.start()
        plan = self.plan(chance)
        finished = self.run(self.total, plan, [chance.uniform(0, 0.3) for _ in plan], self.tell)
        for caller in self.callers:
            caller.is_over = True
        for caller in self.callers:
            caller.join(25)
        say(f'decisions: {dict(self.decider.answers)}')
        self.wait_for_leases()
        return finished

    def wait_for_leases(self):
        """An abort does not wait for whoever was running; their leases end by themselves."""
        deadline = time.monotonic() + stage.STUCK_SECONDS
        while time.monotonic() < deadline and self.store.ask(
                'SELECT 1 FROM workflow.workflow_step WHERE locked_by IS NOT NULL LIMIT 1'):
            time.sleep(0.1)

    def read_calls(self):
        """How often each (instance, step, kind) was called."""
        with open(self.calls, encoding='utf-8') as file:
            return collections.Counter(tuple(line.split()[:3]) for line in file)


def examine_calls(scene, checks):
    calls = scene.read_calls()
    limits = {(step.name, 'step'): step.max_attempts for step in STEPS}
    limits.update({(step.name, 'compensation'): step.undo_max for step in STEPS})
    once = {(step.name, 'step') for step in STEPS if step.is_once}
    once |= {(step.name, 'compensation') for step in STEPS if step.is_undo_once}

    wrong = [call for call, count in calls.items() if call[1:] in once and count > 1]
    checks.check('what_is_not_idempotent_was_called_once', not wrong, wrong[:5])
    wrong = [(call, count) for call, count in calls.items() if count > limits.get(call[1:], 0)]
    checks.check('nothing_was_called_more_often_than_max_attempts', not wrong, wrong[:5])

    rows = scene.store.ask(
        'SELECT i.id, i.key, s.name, s.status, s.attempts FROM workflow.workflow_step s '
        "JOIN workflow.workflow_instance i ON i.seq = s.instance_seq WHERE s.kind = 'task'")
    wrong = [row for row in rows
             if (row[3] == 'completed' and not calls[row[0], row[2], 'step']) or
             (row[3] == 'rolled_back' and limits[row[2], 'compensation'] and
              not calls[row[0], row[2], 'compensation'])]
    checks.check('what_is_done_or_undone_was_called', not wrong, wrong[:5])

    salts = {step.name: salt for salt, step in enumerate(STEPS)}
    wrong = []
    for _, key, name, status, attempts in rows:
        fate = fate_of(int(key.partition('-')[2]), salts[name], SEED)[0]
        if status == 'completed' and (fate < 10 or (fate < 20 and attempts == '0')):
            wrong.append((key, name, attempts, fate))
    checks.check('nothing_completed_whose_handler_failed', not wrong, wrong[:5])


def tell_history(rows_copy, instance):
    """What an instance that broke a rule went through."""
    for event in rows_copy.execute('SELECT id >> 12, id & 4095, type, step, status, reason FROM e '
                                   'WHERE iid = ? ORDER BY id', (instance,)):
        say(f'{instance}: ' + ' '.join(str(value) for value in event))


def examine(scene, checks, finished):
    ask = scene.store.ask
    checks.check('no_instance_is_lost', (rows := ask(
        'SELECT count(*), count(DISTINCT key) FROM workflow.workflow_instance')) ==
        [(str(scene.total), str(scene.total))], rows)
    rows = ask('SELECT status, count(*) FROM workflow.workflow_instance GROUP BY status '
               'ORDER BY status')
    say(', '.join(f'{count} {status}' for status, count in rows))
    checks.check('every_instance_ended', finished == scene.total and
                 {status for status, _ in rows} <= {'completed', 'failed', 'aborted'},
                 f'{rows}, {finished} when the clock ran out')
    rows_copy = copy(scene.store)
    for name, sql in RULES.items():
        rows = rows_copy.execute(sql + ' LIMIT 5').fetchall()
        checks.check(name, not rows, rows)
        if rows:
            tell_history(rows_copy, rows[0][0])
    examine_calls(scene, checks)
    lost = ask("SELECT count(*) FROM workflow.workflow_event WHERE event_type IN "
               "('step_retry', 'step_failed', 'step_skipped', 'compensation_retry', "
               "'compensation_max_retries_exceeded') AND data ->> 'error' = 'LEASE_EXPIRED'")
    say(f'{lost[0][0]} calls were lost to a kill')
    checks.check('the_kills_hit_work_under_way', int(lost[0][0]) > 0, lost)
    checks.check('the_store_is_intact', scene.store.is_intact(), 'damage')


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in SIZES:
        sys.exit(__doc__)
    checks = Checks()
    print(f'1..{4 + 2 + len(RULES) + 4 + 2}', flush=True)
    say(f'CAIRN_KILL_SEED={SEED} repeats this')
    scene = Scene(*sys.argv[1:])
    return stage.play(scene, checks, random.Random(SEED),
                      lambda: f'{sum(scene.read_calls().values())} calls, '
                      f'{sum(caller.repeats for caller in scene.callers)} repeated requests',
                      lambda: [caller.refused for caller in scene.callers if caller.refused],
                      examine)


if __name__ == '__main__':
    stage.end_when_told()
    sys.exit(main())
