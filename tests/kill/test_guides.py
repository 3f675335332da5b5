#!/usr/bin/env python3
# tests/kill/test_guides.py - the commands of the guides and of the cookbook, pasted into a shell one after the other.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_guides.py CAIRN GUIDE...

The program is build/cairn, as in the source tree, and not on the PATH: the guide has to say how it gets there.
DATABASE_URL, for a page that names it, is an empty database on the server of $CAIRN_TEST_POSTGRES.
A block of ```sh is run; each line of a block of ```text behind it must be found in what was printed.
Ids, times, durations and the number of blanks do not matter.  A block such as ```yaml order.yaml is a file.  The commands of a
block of ```crontab are run, as cron would run them.  Commands that need root, systemd or podman are those of stand_in.py, and the
places of an installed system, such as /etc/cairn, are in a folder of their own.
"""
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile

from scene import free_port

STAND_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stand_in.py')
STAND_INS = ('dpkg', 'editor', 'podman', 'systemctl')
PLACES = re.compile(r'(?<![\w/.])(?=/(?:etc|var/lib|var/backups)/cairn|/usr/local/bin)')
MARK = '--- block'
VARYING = [
    (r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', '<id>'),
    (r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', '<time>'),
    (r'\b\d+(\.\d+)?m?s\b(?! ago)', '<took>'),
    (r'\b(now|\d+s ago)(?= |$)', '<ago>'),
    (r'in (\d+[dhms])', 'in <left>'),
    (r'\s+', ' '),
]


def plain(line):
    for pattern, word in VARYING:
        line = re.sub(pattern, word, line)
    return line.strip()


def blocks_of(guide):
    """[commands, lines that must be printed] of each block."""
    blocks, place = [], f'127.0.0.1:{free_port()}'
    with open(guide, encoding='utf-8') as text:
        found = re.findall(r'^```(sh|text|crontab|yaml \S+)\n(.*?)^```', text.read(), re.M | re.S)
    for kind, body in found:
        if kind == 'text':
            blocks[-1][1] += [plain(line) for line in body.splitlines()]
            continue
        if kind == 'crontab':
            body = 'cairn migrate --url sqlite:/var/lib/cairn/cairn.db >/dev/null\n' + ''.join(map(cron_line, body.splitlines()))
        elif kind != 'sh':
            body = f'cat > {kind.split()[1]} <<\'END\'\n{body}END\n'
        blocks.append([body.replace('127.0.0.1:22476', place), []])
    return blocks


def cron_line(line):
    """What stands behind the five fields, for /bin/sh, twice; cron takes \\% for %."""
    command = re.fullmatch(r'(?:[\d*/,-]+ +){5}(.*)', line).group(1).replace('\\%', '%')
    return f'sh -c {shlex.quote(command)}\n' * 2


def install(folder):
    """A folder that stands for the file system of a machine on which Cairn is installed, with the commands that act on it."""
    for place in ('stand-ins', 'etc/cairn', 'var/lib/cairn', 'var/backups/cairn', 'usr/local/bin'):
        os.makedirs(os.path.join(folder, place))
    for name in (*STAND_INS, 'stop_all'):
        os.symlink(STAND_IN, os.path.join(folder, 'stand-ins', name))
    with open(os.path.join(folder, 'usr/local/bin/send-mail'), 'w', encoding='utf-8') as handler:
        handler.write('#!/bin/sh\ncat\n')
    os.chmod(handler.name, 0o755)
    return folder


@contextlib.contextmanager
def database(blocks):
    """The URL of a database that is dropped in the end, with all that a guide has made beside it; empty if it needs none."""
    if not any('DATABASE_URL' in body for body, _ in blocks):
        yield ''
        return
    server = os.environ['CAIRN_TEST_POSTGRES']

    def psql(sql):
        done = subprocess.run(['psql', '-XAtq', server], input=sql, text=True, stdout=subprocess.PIPE, check=True)
        return done.stdout.split()
    name = f'cairn_guide_{os.getpid()}'
    psql(f'CREATE DATABASE {name} TEMPLATE template0')
    try:
        yield f'{server.rsplit("/", 1)[0]}/{name}'
    finally:
        psql(f'DROP DATABASE {name} WITH (FORCE);')
        psql('SET client_min_messages = warning; DROP DATABASE IF EXISTS orders_restored WITH (FORCE);')
        psql('SET client_min_messages = warning; DROP ROLE IF EXISTS orders_cairn, orders_shop;')


def run(cairn, blocks, url):
    script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + ''.join(f'{body}\necho "{MARK}"\n' for body, _ in blocks)
    with tempfile.TemporaryDirectory(prefix='cairn-guide-', dir='/tmp') as folder:
        os.mkdir(os.path.join(folder, 'build'))
        os.symlink(os.path.abspath(cairn), os.path.join(folder, 'build', 'cairn'))
        installed = install(os.path.join(folder, 'installed'))
        env = dict(os.environ, NO_COLOR='1', DATABASE_URL=url, STAND_IN=installed,
                   PATH=f'{os.path.join(installed, "stand-ins")}:{os.environ["PATH"]}')
        env.pop('CAIRN_URL', None)
        done = subprocess.run(['bash', '-eu', '-c', PLACES.sub(installed, script)], cwd=folder, env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300, check=False)
        subprocess.run([os.path.join(installed, 'stand-ins', 'stop_all')], env=env, check=True)
    return done.returncode, done.stdout.split(f'{MARK}\n')


def missing(lines, printed):
    seen = [plain(line) for line in printed.splitlines()]
    return [line for line in lines if not any(line in other for other in seen)]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    is_good = True
    print(f'1..{len(sys.argv) - 2}', flush=True)
    for number, guide in enumerate(sys.argv[2:], 1):
        blocks = blocks_of(guide)
        with database(blocks) as url:
            code, printed = run(sys.argv[1], blocks, url)
        faults = [f'exit code {code}\n{printed[-1]}'] if code or not blocks else []
        for (_, lines), text in zip(blocks, printed):
            absent = missing(lines, text)
            if absent:
                faults.append('not printed: ' + '\n'.join(absent) + f'\nbut:\n{text}')
        name = os.path.splitext(os.path.basename(guide))[0]
        print(f'{"not " if faults else ""}ok {number} - the_commands_of_the_guide_{name}_work')
        is_good = is_good and not faults
        for line in '\n'.join(faults).splitlines():
            print(f'# {line}', flush=True)
    return 0 if is_good else 1


if __name__ == '__main__':
    sys.exit(main())
