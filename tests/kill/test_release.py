#!/usr/bin/env python3
# tests/kill/test_release.py - scripts/release refuses what is not ready, and makes what is.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_release.py SOURCE-FOLDER

Works in a small repository of its own, with the script and the files that name the version.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from scene import Checks

FILES = ('scripts/release', 'meson.build', 'include/cairn.h', 'CHANGELOG.md')
QUIET = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}


class Repository:
    def __init__(self, source, folder):
        self.folder = folder
        for path in FILES:
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            shutil.copy(os.path.join(source, path), os.path.join(folder, path))
        self.write('.gitignore', '/build*/\n')
        self.write('CHANGELOG.md', '# Changes\n\n## Unreleased\n\n- Something new.\n\n## 0.0.1 (2020-01-01)\n\n- Old.\n')
        self.git('init', '--quiet')
        self.commit()

    def write(self, path, text):
        with open(os.path.join(self.folder, path), 'w', encoding='utf-8') as file:
            file.write(text)

    def read(self, path, mode='r'):
        with open(os.path.join(self.folder, path), mode) as file:
            return file.read()

    def git(self, *arguments):
        environment = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}
        return subprocess.run(['git', '-c', 'user.name=test', '-c', 'user.email=test@example.org', *arguments],
                              cwd=self.folder, env=environment, check=True, **QUIET).stdout

    def commit(self):
        self.git('add', '--all')
        self.git('commit', '--quiet', '-m', 'step')

    def release(self, *arguments):
        """(exit status, what it printed)"""
        environment = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null',
                       'GIT_COMMITTER_NAME': 'test', 'GIT_COMMITTER_EMAIL': 'test@example.org'}
        done = subprocess.run([sys.executable, 'scripts/release', '--no-tests', *arguments], cwd=self.folder,
                              env=environment, check=False, **QUIET)
        return done.returncode, done.stdout


def archive_of(repository, version):
    """(digest, names in it) of the archive; the digest only if SHA256SUMS has it, too."""
    path = f'build-release/cairn-{version}.tar.gz'
    digest = hashlib.sha256(repository.read(path, 'rb')).hexdigest()
    if digest not in repository.read('build-release/SHA256SUMS'):
        return None, []
    with tarfile.open(os.path.join(repository.folder, path)) as archive:
        return digest, archive.getnames()


def story(repository, checks):
    old = re.search(r'CAIRN_VERSION "([^"]*)"', repository.read('include/cairn.h'))[1]
    code, text = repository.release('7.8')
    checks.check('a_version_has_three_numbers', code == 1 and 'not a version' in text, [text])
    code, text = repository.release('--dry-run', '7.8.9')
    checks.check('files_that_name_another_version_are_refused', code == 1 and f'says {old}' in text, [text])

    code, text = repository.release('--set', '7.8.9')
    header, meson = repository.read('include/cairn.h'), repository.read('meson.build')
    checks.check('set_writes_the_version_everywhere',
                 code == 0 and '#define CAIRN_VERSION "7.8.9"' in header and '_MINOR 8' in header
                 and "version: '7.8.9'" in meson, [text])
    code, text = repository.release('--dry-run', '7.8.9')
    checks.check('a_tree_with_changes_is_refused', code == 1 and 'not clean' in text, [text])
    repository.commit()

    dated = repository.read('CHANGELOG.md')
    repository.write('CHANGELOG.md', dated.replace('- Something new.\n', ''))
    repository.commit()
    code, text = repository.release('--dry-run', '7.8.9')
    checks.check('an_empty_section_of_the_changelog_is_refused', code == 1 and 'CHANGELOG.md has no' in text, [text])
    repository.write('CHANGELOG.md', dated)
    repository.commit()

    code, text = repository.release('--dry-run', '7.8.9')
    first, names = archive_of(repository, '7.8.9')
    checks.check('a_dry_run_makes_the_archive_and_no_tag',
                 code == 0 and first and 'cairn-7.8.9/include/cairn.h' in names and not repository.git('tag'), [text])
    code, text = repository.release('7.8.9')
    second, _ = archive_of(repository, '7.8.9')
    message = repository.git('tag', '--list', '--format=%(contents)', 'v7.8.9')
    checks.check('a_release_is_tagged_with_its_changes',
                 code == 0 and '- Something new.' in message and '- Old.' not in message, [text, message])
    checks.check('the_same_commit_gives_the_same_bytes', first == second, [first, second])
    code, text = repository.release('7.8.9')
    checks.check('a_version_is_released_once', code == 1 and 'tagged already' in text, [text])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    checks = Checks()
    print('1..9', flush=True)
    with tempfile.TemporaryDirectory(prefix='cairn-release-test-') as folder:
        story(Repository(sys.argv[1], folder), checks)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
