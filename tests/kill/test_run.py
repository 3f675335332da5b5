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
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from scene import free_port

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
CHECKS = 16
PATIENCE = 180          # seconds after which something is stuck
# Those for which nothing is printed that would end them.
STAY = ['import-2', 'import-3', 'newsletter-7']


class Newcomer:
    def __init__(self, cairn):
        self.folder = tempfile.mkdtemp(prefix='cairn-run-', dir='/tmp')
        self.place = f'127.0.0.1:{free_port()}'
        shutil.copy(os.path.join(ROOT, 'run'), self.folder)
        for name in ['scripts', 'examples']:
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.folder, name))
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

    def wait_for(self, is_so, seconds=PATIENCE):
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
            return self.popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return 'still running'

    def items(self, path):
        with urllib.request.urlopen(f'http://{self.place}/v1/{path}', timeout=PATIENCE) as answer:
            return json.load(answer)['items']

    def jobs(self):
        items = self.items('jobs')
        return {job['idempotency_key']: job for job in items}, len(items)

    def instances(self):
        items = self.items('instances')
        return {one['key']: one for one in items if one['key']}, len(items)    # children have none

    def type_what_it_says(self, *words):
        """The printed lines that begin with these words, run as a reader would run them."""
        wanted = tuple(f'  built/cairn {word} ' for word in words)
        lines = [line for line in self.read().splitlines() if line.startswith(wanted)]
        script = '\n'.join([f'export CAIRN_URL=http://{self.place}', *lines])
        done = subprocess.run(['bash', '-eu', '-c', script], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        return done.returncode == 0 and len(lines) >= len(words), f'{script}\n{done.stdout}'

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


def stand_as_told(newcomer):
    instances, _ = newcomer.instances()
    return ({key: one['status'] for key, one in instances.items()} ==
            {'order-1001': 'completed', 'order-1002': 'failed', 'order-1003': 'running',
             'order-1004': 'waiting_signal', 'order-1005': 'paused', 'import-1': 'dlq',
             'import-2': 'dlq', 'import-3': 'dlq', 'trip-1': 'completed',
             'trip-2': 'waiting_signal', 'newsletter-7': 'running'} and
            instances['order-1003']['current_steps'] == ['approval'])


def have_all_ended(newcomer):
    instances, _ = newcomer.instances()
    return all(one['finished_at'] for key, one in instances.items() if key not in STAY)


def saga(newcomer, checks):
    checks.check('the_orders_stand_as_it_tells', newcomer.wait_for(lambda: stand_as_told(newcomer)),
                 newcomer.instances())
    order = newcomer.instances()[0]['order-1002']['id']
    undone = [step['name'] for step in newcomer.items(f'instances/{order}/steps')
              if step['status'] == 'rolled_back' and step['handler']]
    checks.check('what_was_done_for_the_failed_one_is_undone',
                 undone == ['reserve_money', 'pack', 'ship', 'invoice'], undone)


def going_on(newcomer, checks):
    is_done, seen = newcomer.type_what_it_says('graph', 'show', 'events', 'approve', 'signal',
                                               'dlq', 'resume', 'logs')
    checks.check('what_it_says_to_type_works', is_done, seen)
    is_done = newcomer.wait_for(lambda: have_all_ended(newcomer))
    statuses = {key: one['status'] for key, one in newcomer.instances()[0].items()}
    checks.check('then_all_that_waited_completes', is_done and
                 all(statuses[key] == 'completed' for key in
                     ['order-1003', 'order-1004', 'order-1005', 'import-1', 'trip-2']), statuses)


def is_there_for_every_screen(newcomer):
    """Dead letters in two groups, a busy worker, a type that nobody serves, a map that goes on, a limit."""
    errors = {record['error'] for record in newcomer.items('dlq')}
    holds = {worker['name']: worker['holds'] for worker in newcomer.items('workers')}
    jobs, _ = newcomer.jobs()
    letter = newcomer.instances()[0]['newsletter-7']['id']
    whys = [why['text'] for why in newcomer.items(f'instances/{letter}/why')]
    return (whys == ['4 of 5 elements done, 0 failed.'] and
            [limit['name'] for limit in newcomer.items('limits')] == ['demo-films'] and
            errors == {'prices.cvs: no such file', 'row 17 has no price'} and
            holds.get('demo-render') == 1 and 'demo-trips' in holds and
            jobs['demo-film']['status'] == 'leased' and
            jobs['demo-trailer']['status'] == 'pending' and
            jobs['demo-fax']['status'] == 'pending')


def story(newcomer, checks):
    newcomer.start()
    is_up = newcomer.wait_for(lambda: 'Ctrl-C stops' in newcomer.read())
    checks.check('run_says_where_to_look_and_what_to_type', is_up and 'job add' in newcomer.text and
                 f'http://{newcomer.place}' in newcomer.text, newcomer.text)
    checks.check('the_demo_jobs_go_their_ways', newcomer.wait_for(lambda: are_settled(newcomer)),
                 newcomer.jobs())
    saga(newcomer, checks)
    checks.check('there_is_something_for_every_screen',
                 newcomer.wait_for(lambda: is_there_for_every_screen(newcomer)),
                 [newcomer.items('dlq'), newcomer.items('workers'), newcomer.jobs()])
    counts = newcomer.jobs()[1], newcomer.instances()[1]
    code = newcomer.press_ctrl_c()
    checks.check('ctrl_c_ends_it_cleanly', code == 0, f'{code}\n{newcomer.read()}')
    checks.check('nothing_listens_any_more', not newcomer.is_listening(), newcomer.place)

    newcomer.start()
    newcomer.wait_for(lambda: 'Ctrl-C stops' in newcomer.read())
    jobs, _ = newcomer.jobs()
    counts_again = newcomer.jobs()[1], newcomer.instances()[1]
    checks.check('started_again_the_state_is_there', jobs['demo-hello']['status'] == 'succeeded' and
                 jobs['demo-hopeless']['status'] == 'failed', jobs)
    checks.check('nothing_is_added_twice', counts_again == counts, counts_again)
    going_on(newcomer, checks)
    newcomer.popen.send_signal(signal.SIGTERM)
    code = newcomer.popen.wait(PATIENCE)
    checks.check('sigterm_ends_it_cleanly', code == 0, f'{code}\n{newcomer.read()}')

    newcomer.start('--once')
    code = newcomer.popen.wait(PATIENCE)
    checks.check('once_ends_by_itself', code == 0 and 'Cairn is running' in newcomer.read(),
                 f'{code}\n{newcomer.text}')


def examples(section):
    """The blocks of commands that a section of the README offers for pasting."""
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as readme:
        text = readme.read().partition(f'## {section}\n')[2].partition('\n## ')[0]
    return re.findall(r'^```sh\n(.*?)^```', text, re.M | re.S)


def over_http():
    """The first terminal in the background, and a stream that is read until it has told of a job that was added meanwhile."""
    port = free_port()
    serve, *others = examples('Over HTTP')
    follow = (r"exec 3< <(\g<0>); sed -u '/^: cairn/q' <&3; "
              f"curl -s localhost:{port}/v1/jobs -d '{{\"type\": \"later\"}}'; sed -u '/^event: created/q' <&3; kill $!")
    return (f"trap 'kill $(jobs -p)' EXIT\n{serve.strip()} --listen 127.0.0.1:{port} 2>/dev/null &\n"
            f'until curl -fs localhost:{port}/readyz >/dev/null; do sleep 0.05; done\n' +
            re.sub('^curl -sN .*', follow, ''.join(others).replace(':22476', f':{port}'), flags=re.M))


def paste(newcomer, checks):
    os.makedirs(os.path.join(newcomer.folder, 'build'))
    os.symlink('../built/src/cairn', os.path.join(newcomer.folder, 'build', 'cairn'))
    for section, words in {'From the shell': ['succeeded', 'Ada'],
                           'A workflow from the shell': ['taken', 'completed', 'Lisbon', 'holds   ended(failed)'],
                           'Over HTTP': ['"token":', '"existing":true', '"key":"trip-3"', ': cairn', 'event: created']}.items():
        commands = over_http() if section == 'Over HTTP' else ''.join(examples(section))
        done = subprocess.run(['bash', '-eu', '-c', commands], cwd=newcomer.folder,
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        name = section.lower().replace(' ', '_')
        checks.check(f'the_readmes_{name}_works_when_pasted', done.returncode == 0 and
                     all(word in done.stdout for word in words),
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
