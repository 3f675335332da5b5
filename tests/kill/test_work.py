#!/usr/bin/env python3
# tests/kill/test_work.py - cairn work and its handlers: floods, signals, and deaths of the worker.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_work.py CAIRN [PART-OF-A-NAME]

Handlers are real commands.  Named pipes say when they have started, let them finish, and tell that all
their processes have ended: the reading end sees the end of the file when no process holds the writing
end any more.  Nothing here depends on how long something takes; the limits only end a test that hangs.
"""
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from scene import Checks, end_when_told, say

LIMIT = int(os.environ.get('CAIRN_TEST_LIMIT', 180))     # seconds after which something is stuck


class Stuck(Exception):
    pass


class Place:
    """A folder with a store, pipes and workers."""

    def __init__(self, cairn):
        self.cairn = cairn
        self.folder = tempfile.mkdtemp(prefix='cairn-work-test-', dir='/tmp')
        self.tmp = os.path.join(self.folder, 'tmp')
        os.mkdir(self.tmp)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith('CAIRN_')}
        self.env.update(CAIRN_URL=f'sqlite:{self.folder}/work.db', TMPDIR=self.tmp)
        self.workers, self.ends = [], []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments, **options):
        done = subprocess.run([self.cairn, *arguments], cwd=self.folder, env=self.env, text=True,
                              stdout=subprocess.PIPE, timeout=LIMIT, check=True, **options)
        return done.stdout.strip()

    def job(self, job_id):
        return json.loads(self.run('job', 'show', job_id, '-o', 'json'))

    def pipe(self, name):
        """A named pipe, with our reading end open from the start."""
        os.mkfifo(self.path(name))
        fd = os.open(self.path(name), os.O_RDONLY | os.O_NONBLOCK)
        self.ends.append(fd)
        return fd

    def work(self, command, *options, stderr=subprocess.DEVNULL, before=None, **more):
        env = dict(self.env, **more)
        worker = subprocess.Popen([self.cairn, 'work', '--handle', f't.v1={command}', *options],
                                  cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True,
                                  preexec_fn=before)
        self.workers.append(worker)
        return worker

    def clean_up(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            if worker.stderr:
                worker.stderr.close()
        for fd in self.ends:
            os.close(fd)
        shutil.rmtree(self.folder, ignore_errors=True)


def read_some(fd):
    """What comes next; '' at the end of the file."""
    if not select.select([fd], [], [], LIMIT)[0]:
        raise Stuck(f'nothing came within {LIMIT} s')
    return os.read(fd, 4096).decode()


def read_to_end(fd):
    text = ''
    while True:
        part = read_some(fd)
        if not part:
            return text
        text += part


def finish(worker):
    try:
        return worker.wait(LIMIT)
    except subprocess.TimeoutExpired as stuck:
        raise Stuck(f'the worker did not end within {LIMIT} s') from stuck


def read_until(stream, word):
    text = ''
    while word not in text:
        part = read_some(stream.fileno())
        if not part:
            raise Stuck(f'"{word}" was never said, only: {text}')
        text += part
    return text


def guard_of(worker):
    """The process that guards a worker's handlers."""
    with open(f'/proc/{worker.pid}/task/{worker.pid}/children', encoding='ascii') as children:
        for pid in children.read().split():
            with open(f'/proc/{pid}/comm', encoding='ascii') as comm:
                if comm.read().strip() == 'cairn-guard':
                    return int(pid)
    raise Stuck('the worker has no guard')


# ---- floods -------------------------------------------------------------------------------------

def cancel_during(place, command, stderr=subprocess.DEVNULL):
    """The flood begins when the pipe is open; its end closes it.  The worker hears of the cancel when it extends the lease, which is
    longer than a busy machine keeps it waiting: a job whose lease has ended is begun again."""
    alive = place.pipe('alive')
    job = place.run('job', 'add', 't.v1')
    worker = place.work(f'exec 9>alive; echo started >&9; {command}', '--lease', '6s',
                        stderr=stderr)
    read_some(alive)
    place.run('job', 'cancel', job)
    read_to_end(alive)
    worker.terminate()
    code = finish(worker)
    return code == 0 and place.job(job)['status'] == 'cancelled', (code, place.job(job))


def flood(command):
    """From several processes, so that the pipe is never found empty."""
    return f'for n in 1 2 3 4 5 6 7 8; do {command} & done; wait'


def a_handler_that_floods_standard_error_can_be_cancelled(place):
    return cancel_during(place, flood('yes "a line of an error" >&2'))


def a_handler_that_floods_standard_output_can_be_cancelled(place):
    return cancel_during(place, flood('yes'))


def a_flood_without_line_ends_can_be_cancelled(place):
    return cancel_during(place, flood('cat /dev/zero >&2'))


def a_worker_whose_standard_error_nobody_reads_can_be_stopped(place):
    ours, theirs = os.pipe()
    place.ends += [ours, theirs]
    return cancel_during(place, 'yes >&2', stderr=theirs)


def what_is_left_behind_does_not_hold_up_the_end_with_a_flood(place):
    alive = place.pipe('alive')
    job = place.run('job', 'add', 't.v1')
    worker = place.work('exec 9>alive; yes >&2 & echo up >&9; echo 5', '--until-idle')
    read_to_end(alive)
    code = finish(worker)
    return code == 0 and place.job(job)['result'] == 5, (code, place.job(job))


TOO_LARGE = "the handler's output is larger than 1048576 bytes"


def print_without_end(place, command, *options):
    """The worker ends when its only job has: it would read on for ever if nobody stopped the handler."""
    alive = place.pipe('alive')
    job = place.run('job', 'add', 't.v1', '--max-attempts', '1')
    worker = place.work(f'exec 9>alive; {command}', '--until-idle', *options)
    read_to_end(alive)
    code, row = finish(worker), place.job(job)
    return code == 0 and row['status'] == 'failed' and row['last_error'] == TOO_LARGE, (code, row)


def a_handler_that_prints_without_end_has_failed(place):
    return print_without_end(place, 'yes')


def text_without_end_has_failed_too(place):
    return print_without_end(place, flood('yes'), '--output', 'text')


def a_handler_that_prints_without_end_and_is_deaf_is_killed(place):
    return print_without_end(place, 'trap "" TERM; exec yes')


def as_much_as_a_payload_may_have_is_taken(place):
    job = place.run('job', 'add', 't.v1')
    code = finish(place.work("printf '\"%01048574d\"' 0", '--until-idle'))
    row = place.job(job)
    return code == 0 and row['result'] == '0' * 1048574, (code, row['status'], row['last_error'])


# ---- signals ------------------------------------------------------------------------------------

SLOW = 'echo started > started; read word < go; echo "\\"$word\\""'


def hang_up(place, times):
    started = place.pipe('started')
    os.mkfifo(place.path('go'))
    job = place.run('job', 'add', 't.v1')
    worker = place.work(SLOW, stderr=subprocess.PIPE)
    read_some(started)
    for number in range(times):
        worker.send_signal(signal.SIGHUP)
        if number == 0:
            read_until(worker.stderr, 'stopping')
    with open(place.path('go'), 'w', encoding='ascii') as go:
        go.write('finished\n')
    code = finish(worker)
    row = place.job(job)
    return code == 0 and row['result'] == 'finished', (code, row)


def a_closed_terminal_lets_handlers_finish(place):
    return hang_up(place, 1)


def a_closed_terminal_that_hangs_up_twice_still_lets_handlers_finish(place):
    return hang_up(place, 3)


def a_worker_under_nohup_goes_on(place):
    started = place.pipe('started')
    os.mkfifo(place.path('go'))
    worker = place.work(SLOW, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    results = []
    for word in ('one', 'two'):
        job = place.run('job', 'add', 't.v1')
        read_some(started)
        worker.send_signal(signal.SIGHUP)
        with open(place.path('go'), 'w', encoding='ascii') as go:
            go.write(word + '\n')
        results.append(job)
    worker.terminate()
    code = finish(worker)
    rows = [place.job(job)['result'] for job in results]
    return code == 0 and rows == ['one', 'two'], (code, rows)


# ---- what leaves its handler -------------------------------------------------------------------

# A family of daemons, each with a session of its own, which hear no polite word; the last one says that all are there.
LEAVE = """cat > leave.sh <<'END'
trap "" TERM HUP INT
[ "$1" = 0 ] || setsid sh leave.sh $(($1 - 1)) &
[ "$1" = 0 ] && echo up >&9
sleep 1000; sleep 1000
END
exec 9>alive; (setsid sh leave.sh 3 &); """


def leave_behind(place, command, *job_options, work_options=()):
    """Runs a handler that starts a family of daemons; the pipe ends when the last of them has."""
    alive = place.pipe('alive')
    job = place.run('job', 'add', 't.v1', *job_options)
    worker = place.work(LEAVE + command, *work_options)
    read_some(alive)
    return alive, job, worker


def what_a_handler_started_ends_with_its_call(place):
    os.mkfifo(place.path('go'))
    alive, job, worker = leave_behind(place, 'read word < go; echo 5', work_options=('--until-idle',))
    with open(place.path('go'), 'w', encoding='ascii') as go:
        go.write('on\n')
    read_to_end(alive)
    code = finish(worker)
    return code == 0 and place.job(job)['result'] == 5, (code, place.job(job))


def what_a_handler_started_ends_at_the_timeout_of_its_call(place):
    alive, job, worker = leave_behind(place, 'exec sleep 1000', '--max-attempts', '1', '--call-timeout', '1s',
                                      work_options=('--until-idle',))
    read_to_end(alive)
    code, row = finish(worker), place.job(job)
    return code == 0 and row['status'] == 'failed', (code, row)


def what_a_handler_started_ends_with_its_killed_worker(place):
    alive, _, worker = leave_behind(place, 'exec sleep 1000')
    worker.kill()
    worker.wait()
    read_to_end(alive)
    return True, ''


def what_a_handler_started_ends_with_its_killed_worker_and_guard(place):
    alive, _, worker = leave_behind(place, 'exec sleep 1000')
    os.kill(guard_of(worker), signal.SIGKILL)
    worker.kill()
    worker.wait()
    read_to_end(alive)
    return True, ''


def what_one_handler_started_is_not_ended_with_another(place):
    """Two calls at the same time: the daemon of the first still answers when the second has ended."""
    alive = place.pipe('alive')
    os.mkfifo(place.path('go'))
    place.run('job', 'add', 't.v1')
    worker = place.work('[ -e first ] && exit; touch first; exec 9>alive; '
                        '(setsid sh -c "echo up >&9; read word < go; echo \\$word >&9; sleep 1000" &); sleep 1000')
    read_some(alive)
    place.run('job', 'add', 't.v1', '--wait', stderr=subprocess.DEVNULL)
    with open(place.path('go'), 'w', encoding='ascii') as go:
        go.write('here\n')
    said = read_some(alive)
    worker.kill()
    worker.wait()
    read_to_end(alive)
    return said == 'here\n', said


# ---- deaths -------------------------------------------------------------------------------------

FAMILY = 'exec 9>alive; sleep 1000 & (trap "" TERM HUP INT; sleep 1000; sleep 1000) & echo up >&9; wait'


def a_killed_worker_takes_its_handlers_and_their_children_along(place):
    alive = place.pipe('alive')
    place.run('job', 'add', 't.v1')
    worker = place.work(FAMILY)
    read_some(alive)
    worker.kill()
    worker.wait()
    read_to_end(alive)
    return True, ''


def a_group_that_is_killed_whole_with_its_worker_leaves_no_handler(place):
    alive = place.pipe('alive')
    place.run('job', 'add', 't.v1')
    worker = place.work(FAMILY)
    read_some(alive)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    read_to_end(alive)
    return True, ''


def without_its_guard_a_killed_worker_still_takes_the_command_along(place):
    alive = place.pipe('alive')
    place.run('job', 'add', 't.v1')
    worker = place.work('exec 9>alive; echo up >&9; exec sleep 1000')
    read_some(alive)
    os.kill(guard_of(worker), signal.SIGKILL)
    worker.kill()
    worker.wait()
    read_to_end(alive)
    return True, ''


def a_guard_leaves_with_its_worker(place):
    """Its standard error is closed when the last process that holds it has gone."""
    ours, theirs = os.pipe()
    place.ends.append(ours)
    worker = place.work('true', '--until-idle', '--quiet', stderr=theirs)
    os.close(theirs)
    code = finish(worker)
    return code == 0 and read_to_end(ours) == '', code


# ---- what a handler is given --------------------------------------------------------------------

WAITING = '''
workflow: w
version: 1
steps:
  - wait: parcel
    event: arrived
  - step: look
    handler: t.v1
    max_attempts: 1
'''

LOOK = r'''python3 -c '
import json, os
path = os.environ["CAIRN_SIGNAL_FILE"]
text = open(path).read()
given = os.environ.get("CAIRN_SIGNAL")
print(json.dumps({"size": len(json.loads(text)["payload"]), "mode": oct(os.stat(path).st_mode & 0o777),
                  "inline": None if given is None else given == text, "path": path}))
' '''


def look_at_signal(place, size):
    with open(place.path('w.yaml'), 'w', encoding='ascii') as file:
        file.write(WAITING)
    with open(place.path('payload.json'), 'w', encoding='ascii') as file:
        json.dump('x' * size, file)
    place.run('deploy', 'w.yaml', stderr=subprocess.DEVNULL)
    instance = place.run('start', 'w')
    place.run('signal', instance, 'arrived', '--payload', '@payload.json')
    finish(place.work(LOOK, '--until-idle'))
    row = json.loads(place.run('show', instance, '-o', 'json'))
    return row['output'] or row['last_error']


def a_large_signal_comes_in_a_file(place):
    seen = look_at_signal(place, 200_000)
    is_so = (seen.get('size') == 200_000 and seen.get('inline') is None and
             seen.get('mode') == '0o600' and os.listdir(place.tmp) == [])
    return is_so, (seen, os.listdir(place.tmp))


def a_small_signal_comes_in_the_environment_too(place):
    seen = look_at_signal(place, 1000)
    is_so = (seen.get('size') == 1000 and seen.get('inline') is True and
             os.listdir(place.tmp) == [])
    return is_so, (seen, os.listdir(place.tmp))


def the_file_of_a_signal_goes_with_a_killed_worker(place):
    with open(place.path('w.yaml'), 'w', encoding='ascii') as file:
        file.write(WAITING)
    place.run('deploy', 'w.yaml', stderr=subprocess.DEVNULL)
    place.run('signal', place.run('start', 'w'), 'arrived', '--payload', '"here"')
    alive = place.pipe('alive')
    worker = place.work('exec 9>alive; cat "$CAIRN_SIGNAL_FILE" >&9; exec sleep 1000')
    seen = read_some(alive)
    guard = os.pidfd_open(guard_of(worker))
    worker.kill()
    worker.wait()
    read_to_end(alive)
    select.select([guard], [], [], LIMIT)
    os.close(guard)
    return '"here"' in seen and os.listdir(place.tmp) == [], (seen, os.listdir(place.tmp))


def a_handler_does_not_get_the_token(place):
    job = place.run('job', 'add', 't.v1')
    worker = place.work('echo "\\"${CAIRN_TOKEN-none}\\""', '--until-idle', CAIRN_TOKEN='secret')
    code = finish(worker)
    return place.job(job)['result'] == 'none', (code, place.job(job)['result'])


TESTS = [
    a_handler_that_floods_standard_error_can_be_cancelled,
    a_handler_that_floods_standard_output_can_be_cancelled,
    a_flood_without_line_ends_can_be_cancelled,
    a_worker_whose_standard_error_nobody_reads_can_be_stopped,
    what_is_left_behind_does_not_hold_up_the_end_with_a_flood,
    a_handler_that_prints_without_end_has_failed,
    text_without_end_has_failed_too,
    a_handler_that_prints_without_end_and_is_deaf_is_killed,
    as_much_as_a_payload_may_have_is_taken,
    what_a_handler_started_ends_with_its_call,
    what_a_handler_started_ends_at_the_timeout_of_its_call,
    what_a_handler_started_ends_with_its_killed_worker,
    what_a_handler_started_ends_with_its_killed_worker_and_guard,
    what_one_handler_started_is_not_ended_with_another,
    a_closed_terminal_lets_handlers_finish,
    a_closed_terminal_that_hangs_up_twice_still_lets_handlers_finish,
    a_worker_under_nohup_goes_on,
    a_killed_worker_takes_its_handlers_and_their_children_along,
    a_group_that_is_killed_whole_with_its_worker_leaves_no_handler,
    without_its_guard_a_killed_worker_still_takes_the_command_along,
    a_guard_leaves_with_its_worker,
    a_large_signal_comes_in_a_file,
    a_small_signal_comes_in_the_environment_too,
    the_file_of_a_signal_goes_with_a_killed_worker,
    a_handler_does_not_get_the_token,
]


def run_one(cairn, test):
    place = Place(cairn)
    try:
        return test(place)
    except (Stuck, KeyError, subprocess.SubprocessError) as problem:
        return False, repr(problem)
    finally:
        place.clean_up()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    end_when_told()
    part = sys.argv[2] if len(sys.argv) > 2 else ''
    tests = [test for test in TESTS if part in test.__name__]
    checks = Checks()
    print(f'1..{len(tests)}', flush=True)
    for test in tests:
        is_so, seen = run_one(os.path.realpath(sys.argv[1]), test)
        checks.check(test.__name__, is_so, seen)
    if not checks.is_good:
        say('run one of them with: test_work.py CAIRN PART-OF-ITS-NAME')
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
