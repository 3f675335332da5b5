#!/usr/bin/env python3
# tests/kill/test_run.py - ./run as a newcomer meets it: started, looked at, stopped, started again.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_run.py CAIRN

Runs a copy of ./run in a folder of its own, with the program that was built for the tests.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CHECKS = 9


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Newcomer:
    def __init__(self, cairn):
        self.folder = tempfile.mkdtemp(prefix='cairn-run-', dir='/tmp')
        self.place = f'127.0.0.1:{free_port()}'
        shutil.copy(os.path.join(ROOT, 'run'), self.folder)
        shutil.copytree(os.path.join(ROOT, 'scripts'), os.path.join(self.folder, 'scripts'))
        os.makedirs(os.path.join(self.folder, 'built', 'src'))
        shutil.copy(cairn, os.path.join(self.folder, 'built', 'src', 'cairn'))
        self.popen, self.text = None, ''

    def start(self, *arguments):
        env = dict(os.environ, CAIRN_BUILD='built', CAIRN_LISTEN=self.place)
        self.log = open(os.path.join(self.folder, 'log'), 'w+', encoding='utf-8')
        self.popen = subprocess.Popen([os.path.join(self.folder, 'run'), *arguments], env=env,
                                      cwd='/', stdin=subprocess.DEVNULL, stdout=self.log,
                                      stderr=subprocess.STDOUT, start_new_session=True)

    def read(self):
        self.log.seek(0)
        self.text = self.log.read()
        return self.text

    def wait_for(self, is_so, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if is_so():
                return True
            time.sleep(0.05)
        return False

    def press_ctrl_c(self):
        """What a terminal does: SIGINT to everybody in the foreground."""
        os.killpg(self.popen.pid, signal.SIGINT)
        try:
            return self.popen.wait(60)
        except subprocess.TimeoutExpired:
            return 'still running'

    def jobs(self):
        with urllib.request.urlopen(f'http://{self.place}/v1/jobs', timeout=10) as answer:
            items = json.load(answer)['items']
        return {job['idempotency_key']: job for job in items}, len(items)

    def is_listening(self):
        host, port = self.place.split(':')
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def clean_up(self):
        if self.popen and self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Checks:
    def __init__(self):
        self.number, self.is_good = 0, True

    def check(self, name, is_so, seen):
        self.number += 1
        print(f'{"" if is_so else "not "}ok {self.number} - {name}', flush=True)
        if not is_so:
            self.is_good = False
            for line in str(seen).splitlines():
                print(f'# {line}', flush=True)


def are_settled(newcomer):
    jobs, _ = newcomer.jobs()
    return (jobs['demo-hello']['status'] == 'succeeded' and
            jobs['demo-hopeless']['status'] == 'failed' and
            jobs['demo-flaky']['status'] == 'pending' and jobs['demo-flaky']['last_error'] and
            jobs['demo-report']['status'] == 'pending')


def story(newcomer, checks):
    newcomer.start()
    is_up = newcomer.wait_for(lambda: 'Ctrl-C stops' in newcomer.read())
    checks.check('run_says_where_to_look_and_what_to_type', is_up and 'job add' in newcomer.text and
                 f'http://{newcomer.place}' in newcomer.text, newcomer.text)
    checks.check('the_demo_jobs_go_their_ways', newcomer.wait_for(lambda: are_settled(newcomer)),
                 newcomer.jobs())
    _, count = newcomer.jobs()
    code = newcomer.press_ctrl_c()
    checks.check('ctrl_c_ends_it_cleanly', code == 0, f'{code}\n{newcomer.read()}')
    checks.check('nothing_listens_any_more', not newcomer.is_listening(), newcomer.place)

    newcomer.start()
    newcomer.wait_for(lambda: 'Ctrl-C stops' in newcomer.read())
    jobs, count_again = newcomer.jobs()
    checks.check('started_again_the_state_is_there', jobs['demo-hello']['status'] == 'succeeded' and
                 jobs['demo-hopeless']['status'] == 'failed', jobs)
    checks.check('the_demo_jobs_are_not_added_twice', count_again == count, count_again)
    newcomer.popen.send_signal(signal.SIGTERM)
    code = newcomer.popen.wait(60)
    checks.check('sigterm_ends_it_cleanly', code == 0, f'{code}\n{newcomer.read()}')

    newcomer.start('--once')
    code = newcomer.popen.wait(90)
    checks.check('once_ends_by_itself', code == 0 and 'Cairn is running' in newcomer.read(),
                 f'{code}\n{newcomer.text}')


def first_example():
    """The commands that the README offers for pasting."""
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as readme:
        section = readme.read().partition('## A first example')[2]
    return section.partition('```sh\n')[2].partition('```')[0]


def paste(newcomer, checks):
    os.makedirs(os.path.join(newcomer.folder, 'build'))
    os.symlink('../built/src/cairn', os.path.join(newcomer.folder, 'build', 'cairn'))
    done = subprocess.run(['bash', '-eu', '-c', first_example()], cwd=newcomer.folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    checks.check('the_readmes_first_example_works_when_pasted', done.returncode == 0 and
                 'succeeded' in done.stdout and 'Ada' in done.stdout,
                 f'{done.returncode}\n{done.stdout}')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f'1..{CHECKS}', flush=True)
    checks, newcomer = Checks(), Newcomer(sys.argv[1])
    try:
        story(newcomer, checks)
        paste(newcomer, checks)
    finally:
        newcomer.clean_up()
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
