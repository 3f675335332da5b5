#!/usr/bin/env python3
# tests/kill/test_deliver.py - events arrive at least once and in order, though those who deliver them are killed.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_deliver.py CAIRN sqlite|postgres

Instances emit events.  Two processes deliver them, one from the store and one through a server, and are killed at
random.  The receiver refuses some requests, cuts some off, and answers some too late.  In the end every event has
arrived, and of each instance none came before an earlier one had been accepted.  And where nobody listens, events that are given
up hold back none behind them.  The output is TAP.
"""
import http.server
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, say     # pylint: disable=wrong-import-position

TIMEOUT = 300               # of the test, not of a request
INSTANCES, EVENTS = (12, 40) if stage.IS_LONG else (5, 10)
KILLS = 30 if stage.IS_LONG else 8


def get(url):
    with urllib.request.urlopen(url, timeout=stage.PATIENCE) as answer:
        return json.loads(answer.read())


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, chance):
        super().__init__(('127.0.0.1', 0), Handler)
        self.chance, self.lock, self.seen = chance, threading.Lock(), []    # (instance, number, accepted)
        self.url = f'http://127.0.0.1:{self.server_address[1]}/events'
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass                # a client that was killed

    def accepted(self):
        with self.lock:
            return {(instance, number) for instance, number, is_good in self.seen if is_good}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):      # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers['Content-Length']))
        event = json.loads(body)
        with self.server.lock:
            mood = self.server.chance.random()
            is_good = mood >= 0.3
            self.server.seen.append((event['instance_id'], event['payload']['n'], is_good))
        if mood < 0.05:
            self.close_connection = True        # no answer at all
            return
        if mood < 0.1:
            time.sleep(2.5)                     # too late
        self.send_response(200 if is_good else 503)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, format, *args):       # pylint: disable=redefined-builtin
        pass


def emit(url):
    """Each instance emits its events with two results."""
    post(f'{url}/v1/workflows', {'workflow': 'w', 'version': 1, 'steps': [{'step': 'a'}, {'step': 'b'}]})
    ids = [post(f'{url}/v1/instances', {'workflow': 'w'})['id'] for _ in range(INSTANCES)]
    for part, step in enumerate(('a', 'b')):
        tasks = post(f'{url}/v1/tasks/claim', {'worker': 'w', 'types': [step], 'max': INSTANCES})['tasks']
        for task in tasks:
            numbers = range(part * EVENTS // 2, (part + 1) * EVENTS // 2)
            post(f'{url}/v1/tasks/{task["id"]}/complete', {
                'worker': 'w', 'token': task['token'],
                'outbound': [{'event': 'e', 'payload': {'n': number}} for number in numbers]})
    return ids


def play(chance, receiver, delivering, url):
    """Until nothing waits; whoever is killed is started again."""
    deadline, kills = time.monotonic() + TIMEOUT, 0
    for process in delivering:
        process.start()
    while get(f'{url}/v1/outbox?limit=1')['items'] and time.monotonic() < deadline:
        time.sleep(chance.random())
        if kills < KILLS:
            victim = chance.choice(delivering)
            victim.kill()
            victim.start()
            kills += 1
    say(f'{kills} kills, {len(receiver.seen)} requests, {len(receiver.accepted())} events')


def give_up(cairn, store, url):
    """Delivers to nobody, with one attempt.  The lease is longer than we wait."""
    emit(url)
    try:
        subprocess.run([cairn, 'deliver', '--to', 'http://127.0.0.1:1/', '--url', store.url, '--lease', '1h', '--max-attempts', '1',
                        '--until-idle', '-q'], timeout=TIMEOUT, check=False, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        pass
    return get(f'{url}/v1/outbox')['items'], len(get(f'{url}/v1/outbox?status=dead&limit=1000')['items'])


def out_of_order(seen):
    """An event that came before the one before it had been accepted, or after a later one had come."""
    accepted, latest = {}, {}
    for instance, number, is_good in seen:
        if number < latest.get(instance, 0) or number > accepted.get(instance, -1) + 1:
            yield instance, number
        latest[instance] = number
        if is_good:
            accepted[instance] = max(accepted.get(instance, -1), number)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cairn, kind = sys.argv[1:]
    stage.end_when_told()
    print('1..6', flush=True)
    seed = stage.seed()
    say(f'seed {seed}; repeat with CAIRN_KILL_SEED={seed}')
    chance, checks, processes = random.Random(seed), Checks(), []
    folder = tempfile.mkdtemp(prefix='cairn-deliver-', dir='/tmp')
    store = {'sqlite': stage.Sqlite, 'postgres': stage.Postgres}[kind](folder)
    try:
        receiver, port = Receiver(random.Random(seed + 1)), stage.free_port()
        url = f'http://127.0.0.1:{port}'
        server = stage.Process('serve', [cairn, 'serve', '--url', store.url, '--listen', f'127.0.0.1:{port}'], folder)
        # The lease is far longer than a request takes: who stands still past the end of his may send what another has sent since.
        delivering = [stage.Process(f'deliver{number}', [
            cairn, 'deliver', '--to', receiver.url, '--url', where, '--timeout', '2s', '--lease', '10s',
            '--max-attempts', '1000'], folder) for number, where in enumerate((store.url, url))]
        processes = [server] + delivering
        server.start()
        stage.Scene.wait_for(server)
        ids = emit(url)
        play(chance, receiver, delivering, url)
        left = get(f'{url}/v1/outbox')['items']
        checks.check('nothing waits', left == [], left)
        wanted = {(id, number) for id in ids for number in range(EVENTS)}
        checks.check('every event was accepted', receiver.accepted() == wanted, wanted - receiver.accepted())
        wrong = list(out_of_order(receiver.seen))
        checks.check('no event came out of order', wrong == [], wrong)
        checks.check('nothing was given up', get(f'{url}/v1/outbox?status=dead')['items'] == [], 'dead events')
        for process in delivering:
            stage.Scene.wait_for(process)       # who was killed last may not listen to a signal yet
        ends = [process.end() for process in delivering]
        checks.check('they end when they are asked to', ends == [0, 0], ends)
        waiting, dead = give_up(cairn, store, url)
        checks.check('a dead event holds back none', waiting == [] and dead == INSTANCES * EVENTS, (dead, waiting))
        if not checks.is_good:
            for process in processes:
                stage.Scene.show_log(process)
    finally:
        for process in processes:
            if process.popen and process.popen.poll() is None:
                process.kill()
            process.log.close()
        store.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
