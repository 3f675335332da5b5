#!/usr/bin/env python3
# tests/kill/test_upgrade.py - servers and workers are replaced one by one while work goes on.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_upgrade.py OLD NEW [sqlite|postgres]

OLD and NEW are two versions of the program.  Producers enqueue jobs and start instances at a server of OLD while
NEW migrates the store; then a server and a worker of NEW join, producers go to both, and those of OLD are
ended.  Nobody may be refused, and everything acknowledged must be done.  The output is TAP.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, Process, say     # pylint: disable=wrong-import-position
from test_failover import Producer, WORKFLOW, count, ended, wait_for   # pylint: disable=wrong-import-position

EACH = 200          # acknowledged in each stage
HANDLERS = [word for name in ('mail.v1', 'pair.one', 'pair.two') for word in ('--handle', f'{name}=cat')]


class Side:
    """A server of one version, and a worker that opens the store itself."""

    def __init__(self, name, program, store, folder):
        self.url = f'http://127.0.0.1:{stage.free_port()}'
        listen = self.url.partition('//')[2]
        self.processes = [Process(f'{name}-server', [program, 'serve', '--url', store.url, '--listen', listen], folder),
                          Process(f'{name}-worker', [program, 'work', '--url', store.url, '--lease', stage.LEASE, *HANDLERS], folder)]
        for process in self.processes:
            process.start()
            stage.Scene.wait_for(process)       # the first one makes the tables

    def gone(self):
        return [it.name for it in self.processes if it.popen.poll() is not None]

    def end(self):
        return {it.name: it.end() for it in self.processes}

    def kill(self, is_good):
        for process in self.processes:
            if process.popen and process.popen.poll() is None:
                process.kill()
            if not is_good:
                stage.Scene.show_log(process)


def more(producers, what):
    goal = count(producers) + EACH
    wait_for(lambda: count(producers) >= goal or any(it.refused for it in producers), what)


def play(checks, store, old, new, folder, sides):
    sides.append(Side('old', old, store, folder))
    stage.post(f'{sides[0].url}/v1/workflows', WORKFLOW)
    enough = threading.Event()
    producers = [Producer(number, sides[0].url, enough) for number in range(2)]
    for producer in producers:
        producer.start()
    more(producers, 'the work of the old one')
    done = subprocess.run([new, 'migrate', '--url', store.url], text=True, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.splitlines():
        say(line)
    more(producers, 'the work of the old one on new tables')
    sides.append(Side('new', new, store, folder))
    for number in (2, 3):
        producers.append(Producer(number, sides[1].url, enough))
        producers[-1].start()
    more(producers, 'the work of both')
    checks.check('the_old_ones_go_on', not sides[0].gone(), sides[0].gone())
    for producer in producers[:2]:
        producer.url = sides[1].url
    codes = sides[0].end()
    checks.check('the_old_ones_end_cleanly', set(codes.values()) == {0}, codes)
    more(producers, 'the work of the new one')
    enough.set()
    for producer in producers:
        producer.join()
    refused = [text for producer in producers for text in producer.refused]
    checks.check('nobody_was_refused', not refused, refused)
    known = {key for producer in producers for key in producer.acknowledged}
    say(f'{len(known)} acknowledged, {sum(it.failures for it in producers)} times cut off')
    try:
        wait_for(lambda: known <= ended(store), 'the end of everything')
    except RuntimeError:
        pass
    lost = sorted(known - ended(store))
    checks.check('everything_acknowledged_is_done', not lost, f'{len(lost)}: {lost[:20]}')
    codes = sides[1].end()
    checks.check('the_new_ones_end_cleanly', set(codes.values()) == {0}, codes)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    stage.end_when_told()
    old, new = (os.path.abspath(it) for it in sys.argv[1:3])
    checks, sides, store = Checks(), [], None
    print('1..5', flush=True)
    folder = tempfile.mkdtemp(prefix='cairn-upgrade-', dir='/tmp')
    try:
        store = stage.Sqlite(folder) if sys.argv[3] == 'sqlite' else stage.Postgres(folder)
        play(checks, store, old, new, folder, sides)
    finally:
        for side in sides:
            side.kill(checks.is_good)
        if store:
            store.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
