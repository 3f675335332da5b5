#!/usr/bin/env python3
# tests/kill/test_kill.py - real processes, killed at random moments while many jobs run.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_kill.py CAIRN sqlite|postgres

A server and several workers, some through the server and some on the store itself, are killed with
SIGKILL again and again, and started again, while a producer enqueues and the workers run 10,000
jobs.  On PostgreSQL the database is stopped in immediate mode and started again as well.  At the
end every job must have succeeded exactly once in the table.

Who is killed after how many finished jobs comes from a seed, which is printed; CAIRN_KILL_SEED
repeats it.  CAIRN_KILL_JOBS and CAIRN_KILL_KILLS change the numbers.  The output is TAP.
"""
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PRIVATE_POSTGRES = os.path.join(HERE, '..', '..', 'scripts', 'private-postgres')

JOBS = int(os.environ.get('CAIRN_KILL_JOBS', '10000'))
KILLS = int(os.environ.get('CAIRN_KILL_KILLS', '60'))
SEED = int(os.environ.get('CAIRN_KILL_SEED') or random.SystemRandom().randrange(1, 10**6))
BATCH = 250
AHEAD = 1500                # jobs that the producer may be ahead of the workers
WORKERS = 4                 # the first half through the server, the others on the store itself
LEASE = '2s'
STUCK_SECONDS = 90          # without a single finished job: something is broken
HANDLER = 'read -r input || :'      # no process but the shell


def say(text):
    print(f'# {text}', flush=True)


class Sqlite:
    def __init__(self, folder):
        self.path = os.path.join(folder, 'kill.db')
        self.url = f'sqlite:{self.path}'

    def ask(self, sql):
        with sqlite3.connect(f'file:{self.path}?mode=ro', uri=True, timeout=30) as connection:
            rows = connection.execute(sql.replace('workflow.', '')).fetchall()
        connection.close()
        return [tuple(str(value) for value in row) for row in rows]

    def is_intact(self):
        return self.ask('PRAGMA integrity_check') == [('ok',)]

    restart = None

    def stop(self):
        pass


class Postgres:
    def __init__(self, folder):
        self.folder = os.path.join(folder, 'pg')
        self.url = self.run('start')
        self.psql = shutil.which('psql') or '/usr/bin/psql'

    def run(self, verb):
        env = dict(os.environ, CAIRN_PRIVATE_NO_PGBOUNCER='1')
        answer = subprocess.run([PRIVATE_POSTGRES, verb, self.folder], env=env, check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        return answer.partition('CAIRN_TEST_POSTGRES=')[2].strip()

    def ask(self, sql):
        done = subprocess.run([self.psql, '-X', '-At', '-F', '\t', '-d', self.url, '-c', sql],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return [tuple(line.split('\t')) for line in done.stdout.splitlines()]

    def is_intact(self):
        return self.ask('SELECT 1') == [('1',)]

    def restart(self):
        self.run('restart')

    def stop(self):
        self.run('stop')


class Process:
    """A program that is started again whenever it was killed."""

    def __init__(self, name, command, folder):
        self.name, self.command = name, command
        self.log = open(os.path.join(folder, f'{name}.log'), 'ab')
        self.popen = None
        self.ended = []         # (exit code, when it was started) of ends that nobody asked for
        self.started = None

    def start(self):
        self.started = time.monotonic()
        self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log,
                                      stderr=self.log, start_new_session=True)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def look_after(self):
        """Starts it again if it ended by itself, which a healthy program does not."""
        if self.popen.poll() is not None:
            self.ended.append((self.popen.returncode, self.started))
            self.start()

    def end(self):
        self.popen.terminate()
        try:
            return self.popen.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            return 'no answer to SIGTERM'


class Producer(threading.Thread):
    """Enqueues all jobs, each batch until it is acknowledged.  Keys make repeating harmless."""

    def __init__(self, server_url):
        super().__init__(daemon=True)
        self.server_url, self.repeats, self.refused = server_url, 0, None
        self.finished = 0       # jobs, as far as is known

    def post(self, body):
        request = urllib.request.Request(f'{self.server_url}/v1/jobs', json.dumps(body).encode(),
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()

    def run(self):
        for start in range(0, JOBS, BATCH):
            while start - self.finished > AHEAD:
                time.sleep(0.01)
            jobs = [{'type': f'kill.kind{number % 7}.v1', 'key': f'job-{number}',
                     'payload': {'number': number}, 'max_attempts': 1000}
                    for number in range(start, min(start + BATCH, JOBS))]
            while not self.refused:
                try:
                    self.post({'jobs': jobs})
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


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Scene:
    def __init__(self, cairn, kind):
        self.folder = tempfile.mkdtemp(prefix='cairn-kill-', dir='/tmp')
        self.store = {'sqlite': Sqlite, 'postgres': Postgres}[kind](self.folder)
        port = free_port()
        server_url = f'http://127.0.0.1:{port}'
        self.processes = [Process('serve', [cairn, 'serve', '--url', self.store.url, '--listen',
                                            f'127.0.0.1:{port}'], self.folder)]
        for number in range(WORKERS):
            url = server_url if number < WORKERS // 2 else self.store.url
            self.processes.append(Process(
                f'work{number}', [cairn, 'work', '--url', url, '--handle', f'kill.%={HANDLER}',
                                  '--concurrency', '4', '--lease', LEASE], self.folder))
        self.producer = Producer(server_url)
        self.kills = 0
        self.absences = []      # (from, to): when the database was away

    def start(self):
        self.processes[0].start()
        self.wait_for_tables()
        for process in self.processes[1:]:
            process.start()
        self.producer.start()

    def wait_for_tables(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                self.store.ask('SELECT count(*) FROM workflow.workflow_run')
                return
            except Exception:
                time.sleep(0.05)
        raise RuntimeError('the server made no tables within 30 s')

    def count_finished(self):
        """None while the store cannot be asked."""
        try:
            return int(self.store.ask(
                "SELECT count(*) FROM workflow.workflow_run WHERE status = 'succeeded'")[0][0])
        except Exception:
            return None

    def plan(self, chance):
        """[(finished jobs, victim)], rising; a victim is a process or None, the database."""
        victims = list(self.processes) + ([None, None] if self.store.restart else [])
        moments = sorted(chance.randrange(1, JOBS * 19 // 20) for _ in range(KILLS))
        return [(moment, chance.choice(victims)) for moment in moments]

    def kill(self, victim):
        self.kills += 1
        if victim is None:
            began = time.monotonic()
            self.store.restart()
            self.absences.append((began, time.monotonic()))
        else:
            victim.kill()
            victim.start()

    def run(self, chance):
        plan = self.plan(chance)
        pauses = [chance.uniform(0, 0.02) for _ in plan]
        finished, moved = 0, time.monotonic()
        while finished < JOBS and time.monotonic() - moved < STUCK_SECONDS:
            for process in self.processes:
                process.look_after()
            now_finished = self.count_finished()
            if now_finished is not None and now_finished != finished:
                finished, moved = now_finished, time.monotonic()
                self.producer.finished = finished
            while plan and plan[0][0] <= finished:
                time.sleep(pauses.pop())        # anywhere in what it is just doing
                self.kill(plan.pop(0)[1])
            if self.producer.refused:
                break
            time.sleep(0.02)
        self.producer.join(5)
        return finished

    def strange_ends(self):
        """Ends that nobody asked for.  Who is started while the database is away may say so and
        end with 3; who was running has to wait for it."""
        return [(process.name, code) for process in self.processes
                for code, started in process.ended
                if code != 3 or not any(began - 1 < started < ended
                                        for began, ended in self.absences)]

    def end(self):
        """The server first: a worker must be able to end without it."""
        return {process.name: process.end() for process in self.processes}

    def clean_up(self, is_good):
        for process in self.processes:
            if process.popen and process.popen.poll() is None:
                process.kill()
            process.log.close()
        self.store.stop()
        try:
            for process in self.processes if not is_good else []:
                self.show_log(process)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def show_log(process):
        with open(process.log.name, encoding='utf-8', errors='replace') as log:
            for line in log.read().splitlines()[-15:]:
                say(f'{process.name}: {line}')


class Checks:
    def __init__(self):
        self.number, self.is_good = 0, True

    def check(self, name, is_so, seen):
        self.number += 1
        print(f'{"" if is_so else "not "}ok {self.number} - {name}', flush=True)
        if not is_so:
            self.is_good = False
            say(f'seen: {seen}')


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
    began = time.monotonic()
    scene = Scene(sys.argv[1], sys.argv[2])
    try:
        scene.start()
        finished = scene.run(random.Random(SEED))
        say(f'{finished} jobs, {scene.kills} kills, {scene.producer.repeats} repeated enqueues, '
            f'{time.monotonic() - began:.1f} s')
        checks.check('every_planned_kill_was_made', scene.kills == KILLS, scene.kills)
        checks.check('the_producer_was_never_refused', not scene.producer.refused,
                     scene.producer.refused)
        ended = scene.strange_ends()
        checks.check('no_process_ended_by_itself', not ended, ended)
        codes = scene.end()
        checks.check('every_process_ends_cleanly_when_asked', set(codes.values()) == {0}, codes)
        examine(scene, checks, finished)
    finally:
        scene.clean_up(checks.is_good)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    sys.exit(main())
