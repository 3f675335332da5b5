#!/usr/bin/env python3
# tests/kill/stand_in.py - stands in for dpkg, editor, systemctl and podman when the guides are executed.
#
# SPDX-License-Identifier: Apache-2.0
"""
An ordinary user can neither install a package nor start a service, and a container of a CI has neither systemd nor podman.  So these
commands of the guides are executed by this program, under the name by which it is called.  It takes everything from what is packaged:
the units and settings in packaging/debian, the Containerfile.  What it starts are the command lines of these, with their settings; all
paths lie in the folder $STAND_IN.  scripts/test-package does the real thing, as root.
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..'))
FOLDER = os.environ['STAND_IN']
PLACES = ('/etc/cairn', '/var/lib/cairn', '/var/backups/cairn', '/usr/local/bin')


def moved(text):
    """The text with the places of an installed system in the folder."""
    return re.sub('|'.join(rf'(?<![\w/]){place}' for place in PLACES), lambda found: FOLDER + found.group(), text)


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def version():
    return re.search(r"^project\('cairn'.* version: '([^']*)'", read(ROOT, 'meson.build'), re.M).group(1)


def check(is_so, why):
    if not is_so:
        sys.exit(f'{os.path.basename(sys.argv[0])}: {why}')


def start(name, command, environment, sign):
    """Starts a service and waits until its log has the sign."""
    log = os.path.join(FOLDER, name + '.log')
    with open(log, 'wb') as file:
        process = subprocess.Popen(command, env=environment, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                   start_new_session=True)
    with open(os.path.join(FOLDER, name + '.pid'), 'w', encoding='utf-8') as file:
        file.write(str(process.pid))
    wait_for(process.pid, log, sign)


def wait_for(pid, log, sign):
    end = time.monotonic() + 60
    while sign not in read(log):
        check(time.monotonic() < end and not is_dead(pid), f'no "{sign}" in the log: {read(log)}')
        time.sleep(0.05)


def is_dead(pid):
    try:
        return re.search(r'^State:\s+Z', read(f'/proc/{pid}/status'), re.M)
    except FileNotFoundError:
        return True


def dpkg(options):
    check(options[:1] == ['-i'] and options[1].endswith(f'build-package/cairn_{version()}_amd64.deb'),
          f'the package is called cairn_{version()}_amd64.deb, not {options[-1]}')
    settings = read(ROOT, 'packaging', 'debian', 'cairn.env')
    with open(f'{FOLDER}/etc/cairn/cairn.env', 'w', encoding='utf-8') as file:
        file.write(moved(settings))


def editor(options):
    """Changes nothing but the port, which another program may have."""
    text = read(options[0])
    check('\nCAIRN_SERVE_OPTIONS=\n' in text, 'the settings have no empty CAIRN_SERVE_OPTIONS')
    with open(options[0], 'w', encoding='utf-8') as file:
        file.write(text.replace('\nCAIRN_SERVE_OPTIONS=\n', '\nCAIRN_SERVE_OPTIONS=--listen 127.0.0.1:0\n'))


def unit(name):
    """The keys of a unit of the package, each with its values."""
    template, _, instance = name.partition('@')
    path = os.path.join(ROOT, 'packaging', 'debian', f'cairn.{template}{"@" if instance else ""}.service')
    check(os.path.exists(path), f'the package has no unit for {name}')
    text = moved(read(path).replace('%i', instance))
    found = {}
    for key, value in re.findall(r'^(\w+)=(.*)$', text, re.M):
        found.setdefault(key, []).append(value)
    verify(name, text)
    return found


def verify(name, text):
    """systemd's own opinion, where it is installed."""
    if not shutil.which('systemd-analyze'):
        return
    path = os.path.join(FOLDER, f'{name}.service')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text.replace('/usr/bin/cairn', shutil.which('cairn')))
    done = subprocess.run(['systemd-analyze', 'verify', '--man=no', path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60, check=False)
    said = [line for line in done.stdout.splitlines() if f'{name}.service' in line]
    check(not said, '\n'.join(said))


def settings_of(found):
    environment = dict(os.environ)
    for path in found['EnvironmentFile']:
        check(os.path.exists(path), f'{path} does not exist')
        environment.update(re.findall(r'^(\w+)=(.*)$', read(path), re.M))
    return environment


def command_of(line, environment):
    """The words of ExecStart; $NAME is split at blanks, as systemd does it."""
    words = [part for word in shlex.split(line)
             for part in (environment.get(word[1:], '').split() if word.startswith('$') else [word])]
    check(words[0] == '/usr/bin/cairn', f'{words[0]} is not in the package')
    return ['cairn', *words[1:]]


def systemctl(options):
    verb, name = [word for word in options if not word.startswith('-')]
    found = unit(name)
    if verb == 'enable':
        check('--now' in options and 'WantedBy' in found, 'it would not be started')
        environment = settings_of(found)
        start(name, command_of(found['ExecStart'][0], environment), environment, 'working on' if 'work@' in name else 'listening')
    elif verb == 'reload':
        pid = int(read(FOLDER, name + '.pid'))
        subprocess.run(shlex.split(found['ExecReload'][0]), env=dict(os.environ, MAINPID=str(pid)), check=True)
        wait_for(pid, os.path.join(FOLDER, name + '.log'), 'again')
    else:
        check(False, f'{verb} is not known here')


def podman(options):
    if options[0] == 'load':
        check(options[1:] == ['-i', f'build-package/cairn_{version()}_amd64.oci.tar'], f'there is no {options[-1]}')
        return
    text = re.sub(r'^#.*\n', '', read(ROOT, 'packaging', 'image', 'Containerfile'), flags=re.M)
    said = dict(re.findall(r'^([A-Z]+) (.*)$', text, re.M))
    check(options[0] == 'run' and '-d' in options and options[-1] == f'cairn:{version()}', f'the image is called cairn:{version()}')
    given = list(zip(options, options[1:]))
    check([value for name, value in given if name == '-p'] == [f'{said["EXPOSE"]}:{said["EXPOSE"]}'], 'no such port')
    mounted = {value.split(':')[1]: value.split(':')[0] for name, value in given if name == '-v'}
    command = [*json.loads(said['ENTRYPOINT']), *json.loads(said['CMD'])]
    tokens = command[command.index('--token-file') + 1]
    check(set(mounted) == {moved(said['VOLUME']), moved(tokens)}, f'what is mounted is not what the image reads: {mounted}')
    command[command.index('--token-file') + 1] = os.path.abspath(mounted[moved(tokens)])
    command[command.index('--listen') + 1] = '127.0.0.1:0'
    environment = dict(os.environ, CAIRN_URL=f'sqlite:{FOLDER}/volume.db')
    start('podman', ['cairn', *command[1:]], environment, 'listening')


def stop_all():
    """Ends what the commands of a guide have started."""
    for name in os.listdir(FOLDER):
        if name.endswith('.pid'):
            try:
                os.killpg(int(read(FOLDER, name)), signal.SIGKILL)
            except ProcessLookupError:
                pass


if __name__ == '__main__':
    {'dpkg': dpkg, 'editor': editor, 'systemctl': systemctl, 'podman': podman, 'stop_all': lambda _: stop_all()}[
        os.path.basename(sys.argv[0])](sys.argv[1:])
