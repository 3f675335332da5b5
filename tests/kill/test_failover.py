#!/usr/bin/env python3
# tests/kill/test_failover.py - PostgreSQL dies under load, and its standby takes over.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_failover.py CAIRN

Two PostgreSQL servers, the second a synchronous standby of the first.  A server and two workers, one of which
opens the store itself, have a URL with both.  While producers enqueue jobs and start instances with keys, the first is killed and
the second promoted.  Server and workers must go on by themselves, and everything that was acknowledged must
be there and be done.  The output is TAP.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, Process, say     # pylint: disable=wrong-import-position

PRODUCERS = 4
BEFORE = 200            # acknowledged before the first one dies, and as many after it
PATIENCE = 240          # seconds without any progress: it will not come
ATTEMPTS = 100          # a lease that is lost costs one, and how many are lost is a matter of the machine
BIN = next(iter(glob.glob('/usr/lib/postgresql/15/bin') + glob.glob('/usr/lib/postgresql/*/bin')), '')
WORKFLOW = f'''workflow: pair
version: 1
steps:
  - step: one
    handler: pair.one
    max_attempts: {ATTEMPTS}
  - step: two
    handler: pair.two
    max_attempts: {ATTEMPTS}
'''


def pg(program, *words, **options):
    subprocess.run([os.path.join(BIN, program), *words], check=True, stdout=subprocess.DEVNULL, **options)


class Pair:
    """A server and its synchronous standby."""

    def __init__(self, folder):
        self.first = stage.Postgres(folder)
        self.data = os.path.join(folder, 'standby')
        self.port = stage.free_port()
        head, _, tail = self.first.url.rpartition('@')
        self.place, _, self.name = tail.partition('/')
        self.second_url = f'{head}@127.0.0.1:{self.port}/{self.name}'
        self.url = f'{head}@{self.place},127.0.0.1:{self.port}/{self.name}?target_session_attrs=read-write&connect_timeout=30'
        pg('pg_basebackup', '-d', self.first.url, '-D', self.data, '-R', '-X', 'stream', '-c', 'fast')
        options = f"-p {self.port} -k {self.data} -c synchronous_standby_names=''"
        pg('pg_ctl', '-D', self.data, '-l', os.path.join(self.data, 'log'), '-w', '-t', '300', '-o', options, 'start')
        self.first.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.first.ask('SELECT pg_reload_conf()')
        wait_for(lambda: self.first.ask('SELECT sync_state FROM pg_stat_replication') == [('sync',)], 'the standby')

    def fail_over(self):
        pg('pg_ctl', '-D', os.path.join(self.first.folder, 'data'), '-m', 'immediate', '-w', 'stop')
        pg('pg_ctl', '-D', self.data, '-w', '-t', '300', 'promote')
        self.first.url = self.second_url        # ask() asks the one that is left

    def stop(self):
        subprocess.run([os.path.join(BIN, 'pg_ctl'), '-D', self.data, '-m', 'immediate', 'stop'], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.first.stop()


def wait_for(is_so, what):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f'{what} did not come')
        time.sleep(0.1)


class Producer(threading.Thread):
    """Asks again with the same key until it is acknowledged."""

    def __init__(self, number, url, enough):
        super().__init__(daemon=True)
        self.number, self.url, self.enough = number, url, enough
        self.acknowledged, self.refused, self.failures = [], [], 0

    def run(self):
        while not self.enough.is_set():
            count = len(self.acknowledged)
            key = f'{self.number}:{count}'
            body = {'type': 'mail.v1', 'payload': {}, 'key': key, 'max_attempts': ATTEMPTS} if count % 4 else {'workflow': 'pair', 'key': key}
            while not self.enough.is_set():
                try:
                    stage.post(f'{self.url}/v1/{"jobs" if count % 4 else "instances"}', body)
                    self.acknowledged.append(key)
                    break
                except OSError as error:
                    code = getattr(error, 'code', 503)
                    if code != 503:
                        self.refused.append(f'{key}: {code}')
                        return
                    self.failures += 1


def count(producers):
    return sum(len(it.acknowledged) for it in producers)


def ended(store):
    jobs = store.ask("SELECT idempotency_key FROM workflow.workflow_run WHERE status = 'succeeded'")
    instances = store.ask("SELECT key FROM workflow.workflow_instance WHERE status = 'completed'")
    return {row[0] for row in jobs} | {row[0] for row in instances}


def play(checks, pair, cairn, folder, processes):
    url = f'http://127.0.0.1:{stage.free_port()}'
    handlers = [word for name in ('mail.v1', 'pair.one', 'pair.two') for word in ('--handle', f'{name}=cat')]

    def begin(name, *words):
        processes.append(Process(name, [cairn, *words], folder))
        processes[-1].start()
        stage.Scene.wait_for(processes[-1])     # who finds no database when it starts may end
    begin('server', 'serve', '--url', pair.url, '--listen', url.partition('//')[2])
    stage.post(f'{url}/v1/workflows', WORKFLOW)
    begin('worker-http', 'work', '--url', url, '--lease', stage.LEASE, *handlers)
    begin('worker-store', 'work', '--url', pair.url, '--lease', stage.LEASE, *handlers)
    enough = threading.Event()
    producers = [Producer(number, url, enough) for number in range(PRODUCERS)]
    for producer in producers:
        producer.start()
    wait_for(lambda: count(producers) >= BEFORE, 'the work before')
    pair.fail_over()
    before = count(producers)
    wait_for(lambda: count(producers) >= before + BEFORE, 'the work after')
    enough.set()
    for producer in producers:
        producer.join()
    known = {key for producer in producers for key in producer.acknowledged}
    say(f'{len(known)} acknowledged, {sum(it.failures for it in producers)} times refused or cut off')
    refused = [text for producer in producers for text in producer.refused]
    checks.check('nobody_was_refused_for_good', not refused, refused)
    try:
        wait_for(lambda: known <= ended(pair.first), 'the end of everything')
    except RuntimeError:
        pass
    lost = sorted(known - ended(pair.first))
    checks.check('everything_acknowledged_is_there_and_done', not lost, f'{len(lost)}: {lost[:20]}')
    gone = [it.name for it in processes if it.popen.poll() is not None]
    checks.check('server_and_workers_went_on_by_themselves', not gone, gone)
    codes = {it.name: it.end() for it in processes}
    checks.check('every_process_ends_cleanly_when_asked', set(codes.values()) == {0}, codes)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage.end_when_told()
    checks, processes, pair = Checks(), [], None
    print('1..4', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-failover-', dir='/tmp')
    try:
        pair = Pair(folder)
        play(checks, pair, os.path.abspath(sys.argv[1]), folder, processes)
    finally:
        for process in processes:
            if process.popen.poll() is None:
                process.kill()
            if not checks.is_good:
                stage.Scene.show_log(process)
        if pair:
            pair.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
