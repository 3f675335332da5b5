#!/usr/bin/env python3
# tests/kill/test_file.py - the SQLite file of a running server is removed, replaced, put back.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_file.py CAIRN

A producer enqueues all the time.  What was acknowledged must be found in the file; once the file or
its log is gone, nothing is acknowledged, and /readyz says 503.  The output is TAP.

A server waits for its file for ten seconds before it refuses, so all cases run at the same time.
"""
import concurrent.futures
import json
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import threading
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks     # pylint: disable=wrong-import-position
from test_idle import wait_until_ready      # pylint: disable=wrong-import-position

LEAST = 20          # acknowledged jobs before the file goes


def ask(url, body=None):
    """(status, JSON)"""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=stage.PATIENCE) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


class Producer(threading.Thread):
    """Enqueues until it is refused."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.known, self.refusal = url, [], None
        self.has_enough = threading.Event()

    def run(self):
        while not self.refusal:
            try:
                status, answer = ask(f'{self.url}/v1/jobs', {'type': 'a.v1'})
            except OSError as error:        # the server ends
                status, answer = 0, {'message': repr(error)}
            if status == 201:
                self.known.append(answer['id'])
            else:
                self.refusal = status, answer
            if len(self.known) >= LEAST:
                self.has_enough.set()


def ids_in(path):
    with sqlite3.connect(path) as connection:
        rows = connection.execute('SELECT id FROM workflow_run').fetchall()
    connection.close()
    return {row[0] for row in rows}


class Case:
    """A server on a file of its own, and a producer."""

    def __init__(self, cairn, folder, name):
        self.path = os.path.join(folder, f'{name}.db')
        self.url = f'http://127.0.0.1:{stage.free_port()}'
        self.server = stage.Process(name, [cairn, 'serve', '--url', f'sqlite:{self.path}',
                                           '--listen', self.url[7:]], folder)
        self.server.start()
        wait_until_ready(self.url)
        self.producer = Producer(self.url)
        self.producer.start()
        self.producer.has_enough.wait(stage.PATIENCE)

    def end(self):
        code = self.server.end()
        self.server.log.close()
        return code


def is_refused(case, word):
    """Writes and readiness, each with 503 and a text that says why."""
    case.producer.join(stage.PATIENCE)
    ready, text = ask(f'{case.url}/readyz')
    return (case.producer.refusal and case.producer.refusal[0] == 503
            and word in case.producer.refusal[1]['message'] and ready == 503
            and word in text['message']), (case.producer.refusal, ready, text)


def removed(cairn, folder, checks):
    case = Case(cairn, folder, 'removed')
    aside = case.path + '.aside'
    os.rename(case.path, aside)
    checks.check('a_removed_file_is_not_written_to', *is_refused(case, 'removed'))
    os.rename(aside, case.path)
    status, answer = ask(f'{case.url}/v1/jobs', {'type': 'a.v1'})
    checks.check('a_file_that_is_put_back_is_used_again', status == 201, (status, answer))
    wait_until_ready(case.url)
    case.producer.known.append(answer['id'])
    code = case.end()
    lost = set(case.producer.known) - ids_in(case.path)
    checks.check('nothing_that_was_acknowledged_is_lost', not lost and code == 0, (lost, code))


def replaced(cairn, folder, checks):
    case = Case(cairn, folder, 'replaced')
    keep = case.path + '.keep'
    os.link(case.path, keep)
    other = case.path + '.other'
    with open(other, 'wb'):
        pass
    os.rename(other, case.path)
    checks.check('a_replaced_file_is_not_written_to', *is_refused(case, 'replaced'))
    os.rename(keep, case.path)
    status, answer = ask(f'{case.url}/v1/jobs', {'type': 'a.v1'})
    checks.check('the_right_file_is_used_again', status == 201, (status, answer))
    case.end()
    lost = set(case.producer.known) - ids_in(case.path)
    checks.check('nothing_is_lost_by_a_replacement_that_is_taken_back', not lost, lost)


def without_log(cairn, folder, checks):
    case = Case(cairn, folder, 'log')
    os.unlink(case.path + '-wal')
    checks.check('without_its_log_a_file_is_not_written_to', *is_refused(case, 'log'))
    code = case.end()
    lost = set(case.producer.known) - ids_in(case.path)
    checks.check('stopping_writes_what_the_log_held', not lost and code == 0, (lost, code))


def modes(cairn, folder, checks):
    case = Case(cairn, folder, 'mode')
    seen = {suffix: stat.S_IMODE(os.stat(case.path + suffix).st_mode)
            for suffix in ('', '-wal', '-shm')}
    case.producer.refusal = 'enough'
    case.end()
    checks.check('new_files_have_the_mode_0600', set(seen.values()) == {0o600}, seen)


class Notes:
    """What a case would check, for later."""

    def __init__(self):
        self.lines = []

    def check(self, *line):
        self.lines.append(line)


def play(case, cairn, folder):
    notes = Notes()
    case(cairn, folder, notes)
    return notes.lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print('1..9', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-file-', dir='/tmp')
    os.umask(0o022)
    try:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for lines in pool.map(play, (removed, replaced, without_log, modes), [sys.argv[1]] * 4, [folder] * 4):
                for line in lines:
                    checks.check(*line)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
