# tests/kill/scene.py - a store, and real processes around it that are killed and started again.
#
# SPDX-License-Identifier: Apache-2.0
"""
What test_kill.py, test_saga.py and others share: the two stores, processes that always come back, and the
loop that kills them as the work goes on.
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
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PRIVATE_POSTGRES = os.path.join(HERE, '..', '..', 'scripts', 'private-postgres')
HELD_PORTS = []             # by free_port()

IS_LONG = bool(os.environ.get('CAIRN_TEST_LONG'))      # ./test --long
PATIENCE = 120              # for an answer: only who is stuck needs so long
LEASE = '2s'
STUCK_SECONDS = 180         # without a single piece of work finished: something is broken
SETTLE_SECONDS = 0.5        # until what was under way to the store has arrived
ENDS = 20                   # so often did a program end by itself: it will not get better
OPENED = (b'listening', b'working', b'delivering')      # what a program says once it has opened what it works on


def say(text):
    print(f'# {text}', flush=True)


def free_port():
    """A port that no other process gets until this one ends.  A bound socket holds it: who asks the kernel for any free port gets
    another one, and a server that names it may listen on it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(('127.0.0.1', 0))
    HELD_PORTS.append(holder)
    return holder.getsockname()[1]


def post(url, body, method='POST'):
    """The answer's JSON; whatever goes wrong is an exception.  A text is sent as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    request = urllib.request.Request(url, text.encode(), {'Content-Type': 'application/json'}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def put(url, body):
    return post(url, body, 'PUT')


class Sqlite:
    poll_seconds = 0.02

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
    poll_seconds = 0.1          # each question is a process

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
        self.ended = []         # (exit code, whether it had opened its store) of ends that nobody asked for
        self.begin = 0          # of what it said, in its log

    def start(self):
        self.begin = os.fstat(self.log.fileno()).st_size
        self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log,
                                      stderr=self.log, start_new_session=True)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def has_opened(self):
        with open(self.log.name, 'rb') as log:
            log.seek(self.begin)
            text = log.read()
        return any(word in text for word in OPENED)

    def look_after(self):
        """Starts it again if it ended by itself, which a healthy program does not."""
        if self.popen.poll() is not None:
            self.ended.append((self.popen.returncode, self.has_opened()))
            self.start()

    def end(self):
        self.popen.terminate()
        try:
            return self.popen.wait(STUCK_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return 'no answer to SIGTERM'


class Scene:
    """Servers and workers on one store.  The first half of the workers goes through the servers,
    the others are on the store itself."""
    lease = LEASE

    def __init__(self, cairn, kind, servers, workers):
        self.folder = tempfile.mkdtemp(prefix='cairn-kill-', dir='/tmp')
        try:
            self.store = {'sqlite': Sqlite, 'postgres': Postgres}[kind](self.folder)
        except Exception:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.server_urls, self.servers, self.workers = [], [], []
        for number in range(servers):
            port = free_port()
            self.server_urls.append(f'http://127.0.0.1:{port}')
            self.servers.append(Process(f'serve{number}', [
                cairn, 'serve', '--url', self.store.url, '--listen', f'127.0.0.1:{port}'],
                self.folder))
        for number in range(workers):
            url = self.store.url
            if number < workers // 2:
                url = self.server_urls[number % servers]
            self.workers.append(Process(f'work{number}', [
                cairn, 'work', '--url', url, '--concurrency', '4', '--lease', self.lease] +
                self.handlers(), self.folder))
        self.processes = self.servers + self.workers
        self.kills = self.worker_kills = self.goal = 0
        self.heard = None       # who hears of progress

    def handlers(self):
        """What the workers' command lines say beyond where they work."""
        raise NotImplementedError

    def count_sql(self):
        """How much work has ended."""
        raise NotImplementedError

    def start(self):
        """One after the other: the first server makes the tables, and workers find the servers that they go through."""
        for server in self.servers:
            server.start()
            self.wait_for(server)
        for worker in self.workers:
            worker.start()

    @staticmethod
    def wait_for(server):
        deadline = time.monotonic() + STUCK_SECONDS
        while not server.has_opened():
            if time.monotonic() > deadline or server.popen.poll() is not None:
                raise RuntimeError(f'{server.name} does not listen')
            time.sleep(0.02)

    def count_finished(self):
        """None while the store cannot be asked."""
        try:
            return int(self.store.ask(self.count_sql())[0][0])
        except Exception:
            return None

    def kill(self, victim):
        """A process, or None: the database.  Every other worker is hit while it holds something, whatever it is doing with
        it: without this a slow machine could let all kills hit workers that have nothing in hand."""
        self.kills += 1
        if victim in self.workers:
            self.worker_kills += 1
            if self.worker_kills % 2:
                self.freeze_at_work(victim)
        if victim is None:
            self.store.restart()
        else:
            victim.kill()
            victim.start()

    def held_by(self, worker):
        """What the store says that a worker has leased.  Workers have the names that they make up by themselves, HOST:PID:RANDOM:
        what one of them held when it was killed is not its successor's."""
        mine = f"LIKE '%:{worker.popen.pid}:%'"
        sql = (f'SELECT seq, 0 FROM workflow.workflow_run WHERE leased_by {mine} UNION ALL '
               f'SELECT instance_seq, seq + 1 FROM workflow.workflow_step WHERE locked_by {mine}')
        try:
            return set(self.store.ask(sql))
        except Exception:
            return set()

    def freeze_at_work(self, worker):
        """Stops a worker as soon as it holds something that it has not reported: what it had reported before, and what the
        store is still busy with, is no longer held at a second look."""
        deadline, pause = time.monotonic() + STUCK_SECONDS, self.store.poll_seconds
        while (finished := self.count_finished()) != self.goal and time.monotonic() < deadline:
            if finished is not None:
                self.heard(finished)        # who starts work must not wait for us, or there is none to hold
            for process in self.processes:
                process.look_after()        # without its server a worker holds nothing
            worker.popen.send_signal(signal.SIGSTOP)
            held = self.held_by(worker)
            time.sleep(SETTLE_SECONDS)
            if held & self.held_by(worker):
                return
            worker.popen.send_signal(signal.SIGCONT)
            time.sleep(pause)
            pause = min(2 * pause, 1)

    def run(self, total, plan, pauses, tell):
        """Until so much work has ended.  plan: [(work ended, victims)], rising; pauses: as many
        seconds to wait before each.  tell(finished) hears of progress and says whether to go on."""
        self.goal, self.heard, finished, moved = total, tell, 0, time.monotonic()
        while finished < total and time.monotonic() - moved < STUCK_SECONDS:
            for process in self.processes:
                process.look_after()
            now_finished = self.count_finished()
            if now_finished is not None and now_finished != finished:
                finished, moved = now_finished, time.monotonic()
            if not tell(finished) or len(self.strange_ends()) > ENDS:
                break
            while plan and plan[0][0] <= finished:
                time.sleep(pauses.pop())        # anywhere in what it is just doing
                for victim in plan.pop(0)[1]:
                    self.kill(victim)
                moved = time.monotonic()        # a kill may have waited for its victim to hold something
            time.sleep(self.store.poll_seconds)
        return finished

    def strange_ends(self):
        """Ends that nobody asked for.  Who is started while the database or its server is away may say so and
        end with 3; who had opened it has to wait for it."""
        return [(process.name, code) for process in self.processes
                for code, had_opened in process.ended if code != 3 or had_opened]

    def settle(self):
        """Until all have opened what they work on: who was killed last would die of the signal to end, since it does not listen
        to it yet, or find its server gone."""
        deadline = time.monotonic() + STUCK_SECONDS
        while not all(process.has_opened() for process in self.processes) and time.monotonic() < deadline:
            for process in self.processes:
                process.look_after()
            time.sleep(0.02)

    def end(self):
        """The servers first: a worker must be able to end without them."""
        self.settle()
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


def seed():
    """Who is killed when; CAIRN_KILL_SEED repeats it."""
    return int(os.environ.get('CAIRN_KILL_SEED') or random.SystemRandom().randrange(1, 10**6))


def play(scene, checks, chance, tell, refusals, examine):
    """The whole test: lives, looks at how the processes fared (four checks), ends them, and looks at
    what is left.  tell(): what is worth knowing beside the kills; refusals(): of those who asked."""
    began = time.monotonic()
    try:
        finished = scene.live(chance)
        say(f'{finished} finished, {scene.kills} kills, {tell()}, {time.monotonic() - began:.1f} s')
        checks.check('every_planned_kill_was_made', scene.kills == scene.planned, scene.kills)
        refused = refusals()
        checks.check('nobody_was_refused', not refused, refused)
        ended = scene.strange_ends()
        checks.check('no_process_ended_by_itself', not ended, ended)
        codes = scene.end()
        checks.check('every_process_ends_cleanly_when_asked', set(codes.values()) == {0}, codes)
        examine(scene, checks, finished)
    finally:
        scene.clean_up(checks.is_good)
    return 0 if checks.is_good else 1


def end_when_told():
    """A test that is stopped takes its processes with it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))


class Checks:
    def __init__(self):
        self.number, self.is_good = 0, True

    def check(self, name, is_so, seen):
        self.number += 1
        print(f'{"" if is_so else "not "}ok {self.number} - {name}', flush=True)
        if not is_so:
            self.is_good = False
            say(f'seen: {seen}')
