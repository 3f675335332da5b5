#!/usr/bin/env python3
# tests/kill/test_limit.py - processes that hold places of limits are killed: never one place too many, and none is lost.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_limit.py CAIRN sqlite|postgres

Jobs, steps and compensations of four groups are worked off under two limits, one for each group and one for the whole store,
while the server and workers are killed with SIGKILL and started again.

The handlers themselves count: there is a file for each place, and a handler locks one of its group's and one of the store's. The
kernel drops the locks of a process that dies. A handler that finds all of them locked is one too many, and writes that down.

Who is killed when comes from a seed, which is printed; CAIRN_KILL_SEED repeats it.  The output is TAP.
"""
import collections
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True      # the sources may not be ours to write to
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks, post, put, say     # pylint: disable=wrong-import-position

SEED = stage.seed()
GROUPS = ('ann', 'bob', 'cyd', 'dan')
JOBS, INSTANCES, KILLS = (400, 120, 40) if stage.IS_LONG else (60, 10, 6)      # instances: of each workflow
TASKS = JOBS + INSTANCES * 4        # steps one and two; step one and its compensation
PER_GROUP, IN_ALL = 2, 5
LIMITS = {'group': {'types': 'hold.%', 'concurrency': PER_GROUP, 'per_group': True},
          'all': {'types': 'hold.%', 'concurrency': IN_ALL}}
FLOWS = (
    {'workflow': 'fine', 'version': 1, 'steps': [{'step': 'one', 'handler': 'hold.one', 'max_attempts': 50},
                                                 {'step': 'two', 'handler': 'hold.two', 'max_attempts': 50}]},
    {'workflow': 'undone', 'version': 1, 'steps': [
        {'step': 'one', 'handler': 'hold.one', 'max_attempts': 50,
         'compensation': {'handler': 'hold.back', 'max_attempts': 50}},
        {'step': 'fail', 'handler': 'fail', 'max_attempts': 1}]},
)
# The first handlers go on when the group that has most jobs has all of its places, and more than one group is at work.
# The handler locks descriptor 8 or 9; what it starts inherits both, so that they are locked while anything of it lives.
HANDLER = '''
read -r input
for group in GROUPS; do case $input in *$group*) break; esac; done
take() {
    name=$1 fd=$2 most=$3 place=1
    while [ $place -le $most ]; do
        eval "exec $fd>place-$name-$place"
        flock -n $fd && : > "used-$name-$place" && return
        place=$((place + 1))
    done
    echo "above $name" >> calls
}
cd FOLDER
echo "begin $group" >> calls
take "$group" 8 PER_GROUP
take all 9 IN_ALL
until [ -e used-GROUP-PER_GROUP ] && [ -e used-all-MORE ]; do sleep 0.02; done
sleep 0.05
echo "end $group" >> calls
echo "\\"$group\\""
'''


class Scene(stage.Scene):
    lease = '15s'       # on a slow machine, too, a worker is heard of while its handlers run, though its server has to start anew

    def __init__(self, cairn, kind):
        self.cairn, self.planned = cairn, KILLS
        super().__init__(cairn, kind, servers=1, workers=3)

    def handlers(self):
        text = HANDLER
        for word, value in (('FOLDER', self.folder), ('GROUPS', ' '.join(GROUPS)), ('PER_GROUP', PER_GROUP), ('IN_ALL', IN_ALL),
                            ('GROUP', GROUPS[0]), ('MORE', PER_GROUP + 1)):
            text = text.replace(word, str(value))
        return ['--handle', f'hold.%={text}', '--handle', 'fail=cat > /dev/null; exit 1']

    def count_sql(self):
        return ("SELECT (SELECT count(*) FROM workflow.workflow_run WHERE status = 'succeeded') + "
                "(SELECT count(*) FROM workflow.workflow_instance WHERE status IN ('completed', 'failed'))")

    def prepare(self):
        """While everybody lives."""
        for name, limit in LIMITS.items():
            put(f'{self.server_urls[0]}/v1/limits/{name}', limit)
        for flow in FLOWS:
            post(f'{self.server_urls[0]}/v1/workflows', flow)
        # Most of the jobs are of one group: it may not take the places of the others.
        groups = [GROUPS[number // 2 % len(GROUPS) if number % 2 else 0] for number in range(JOBS)]
        post(f'{self.server_urls[0]}/v1/jobs', {'jobs': [
            {'type': 'hold.job', 'group': group, 'payload': group, 'max_attempts': 50} for group in groups]})
        for number in range(INSTANCES):
            for flow in FLOWS:
                group = GROUPS[number % len(GROUPS)]
                post(f'{self.server_urls[0]}/v1/instances',
                     {'workflow': flow['workflow'], 'group': group, 'input': group})

    def live(self, chance):
        self.start()
        self.prepare()
        total = JOBS + INSTANCES * len(FLOWS)
        # While there is a backlog, so that every worker has something in hand; one in six is the server.
        moments = sorted(chance.randrange(1, total * 2 // 3) for _ in range(KILLS))
        victims = [chance.choice(self.workers) if number % 6 else self.servers[0] for number in range(KILLS)]
        plan = [(moment, [victim]) for moment, victim in zip(moments, victims)]
        return self.run(total, plan, [chance.uniform(0, 0.1) for _ in plan], lambda finished: True)

    def freeze_at_work(self, worker):
        """Not here: the handlers of a worker that stands still go on, and would outlive its lease."""

    def calls(self):
        with open(os.path.join(self.folder, 'calls'), encoding='utf-8') as file:
            return [line.split() for line in file]

    def used(self, name):
        """The places that were ever taken."""
        return {place for place in range(1, IN_ALL + 1) if os.path.exists(os.path.join(self.folder, f'used-{name}-{place}'))}

    def limits(self):
        text = subprocess.run([self.cairn, 'limit', 'list', '--url', self.store.url, '-o', 'json'],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        return json.loads(text)['items']


def examine(scene, checks, finished):
    ask, calls = scene.store.ask, scene.calls()
    seen = collections.Counter(call[0] for call in calls)
    say(f'{dict(seen)}')
    above = [call for call in calls if call[0] == 'above']
    checks.check('no_handler_was_one_too_many', not above, above[:5])
    # Mostly a kill hits a handler, or one that had ended and was not reported; it need not.
    say(f'tasks that were begun again: {seen["begin"] - TASKS}')
    used = scene.used('all')
    say(f'places of the store that were used: {sorted(used)}')
    checks.check('groups_ran_side_by_side', max(used) > PER_GROUP, used)
    used = set().union(*map(scene.used, GROUPS))
    checks.check('a_group_used_all_of_its_places', max(used) == PER_GROUP, used)
    checks.check('every_job_succeeded', (rows := ask(
        'SELECT status, count(*) FROM workflow.workflow_run GROUP BY status')) == [('succeeded', str(JOBS))],
        f'{rows}, {finished} finished')
    checks.check('every_instance_ended', (rows := sorted(ask(
        'SELECT workflow, status, count(*) FROM workflow.workflow_instance GROUP BY 1, 2'))) == [
            ('fine', 'completed', str(INSTANCES)), ('undone', 'failed', str(INSTANCES))], rows)
    checks.check('every_place_came_back', (rows := [(limit['taken'], limit['waiting']) for limit in scene.limits()]) ==
                 [(0, 0)] * len(LIMITS), rows)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ('sqlite', 'postgres'):
        sys.exit(__doc__)
    checks = Checks()
    print(f'1..{4 + 6}', flush=True)
    say(f'CAIRN_KILL_SEED={SEED} repeats this')
    scene = Scene(sys.argv[1], sys.argv[2])
    return stage.play(scene, checks, random.Random(SEED), lambda: 'under two limits', lambda: None, examine)


if __name__ == '__main__':
    stage.end_when_told()
    sys.exit(main())
