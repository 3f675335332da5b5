#!/usr/bin/env python3
# tests/kill/test_docs.py - what the documents name is there.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_docs.py SOURCE-FOLDER CAIRN
"""
import json
import os
import re
import subprocess
import sys

import doc_commands
from scene import Checks

OTHER_DOCUMENTS = re.compile(r'(simple-workflow|linear-workflow|state-machine|state-flow|floxy-engine)'
                             r'(\.md)?|floxy-\d|\brequirement(?!s[-\w]*\.txt)')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as text:
        return text.read()


def files(root, *folders):
    for folder in folders:
        for place, _, names in os.walk(os.path.join(root, folder)):
            yield from (os.path.join(place, name) for name in sorted(names))


def documents(root):
    """Path and text of each document for people, the changelog left out: it tells of what was."""
    paths = [os.path.join(root, name) for name in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md')]
    for path in [*paths, *files(root, 'docs', 'sdk', 'examples')]:
        if path.endswith('.md'):
            yield path, read(path)


def anchors(path):
    """The fragments that a browser finds in a document: its headings, as GitHub writes them."""
    text = re.sub(r'^```.*?^```', '', read(path), flags=re.M | re.S)
    for heading in re.findall(r'^#+ +(.*)$', text, re.M):
        words = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading).lower()
        yield re.sub(r'[^\w\- ]', '', words).replace(' ', '-')


def broken_links(root):
    """Links in documents to files, and to headings, that are not there."""
    for document, text in documents(root):
        text = re.sub(r'^```.*?^```|`[^`\n]*`', '', text, flags=re.M | re.S)     # code has other brackets
        for target, anchor in re.findall(r'\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)', text):
            path = os.path.join(os.path.dirname(document), target) if target else document
            if '://' in target:
                continue
            if not os.path.exists(path) or (anchor and path.endswith('.md') and anchor not in anchors(path)):
                yield f'{os.path.relpath(document, root)}: {target}{"#" if anchor else ""}{anchor}'


def foreign_documents(root):
    """Citations of documents that are not in the repository; states.md has a table of their words."""
    for path in files(root, 'docs', 'examples'):
        text = '' if path.endswith('.png') else read(path)
        found = OTHER_DOCUMENTS.search(os.path.basename(path)) or OTHER_DOCUMENTS.search(text)
        if found and not path.endswith('docs/states.md'):
            yield f'{os.path.relpath(path, root)}: {found.group()}'


def unknown_reports(root):
    """Rows of the table of reports that are no route."""
    table = re.search(r'^\| route \| also takes \|.*?\n\n', read(root, 'docs', 'http.md'), re.M | re.S)
    names = re.findall(r'^\| `(\w+)` \|', table.group(), re.M)
    paths = json.loads(read(root, 'spec', 'openapi.json'))['paths']
    return [name for name in names if f'/v1/tasks/{{id}}/{name}' not in paths] if names else ['none']


# Blocks of commands that no test pastes into a shell, and why; "" is every block of the page.  What they call is compared with
# the program and the description all the same.
NOT_PASTED = {
    ('README.md', './run '): 'test_run.py starts ./run, and ./test is what runs now',
    ('docs/guides/functions.md', 'cairn signal '): 'a part of the example, which the test sends itself',
    ('docs/guides/functions.md', 'curl '): 'parts of a conversation; tests/sdk/run_http.py speaks all of it',
    ('docs/guides/python.md', 'python -m cairn'): 'sdk/python/tests/test_processes.py starts such workers',
    ('docs/http.md', ''): 'parts of conversations, with ids and tokens of the reader\'s own',
    ('sdk/python/README.md', './run --build'): 'sdk/python/tests/test_packaging.py installs the package',
    ('sdk/go/README.md', 'go mod edit'): 'tests/sdk/test_quickstart.py does it; scripts/test-go builds with each set of tags',
    ('examples/shop/README.md', 'createdb'): 'tests/sdk/test_shop.py starts the same programs on a database of its own',
    ('CONTRIBUTING.md', ''): 'they run the tests',
}
# Whoever pastes them otherwise than test_guides.py does, whose pages are listed in tests/kill/meson.build.
PASTED_ELSEWHERE = {'README.md': 'tests/kill/test_run.py', 'docs/guides/quickstart.md': 'tests/sdk/test_quickstart.py',
                    'docs/guides/functions.md': 'tests/sdk/test_quickstart.py'}


def pasted_pages(root):
    lists = re.findall(r'^    (?:guides|recipes) = files\((.*?)\)$', read(root, 'tests', 'kill', 'meson.build'), re.M | re.S)
    return {*re.findall(r"'\.\./\.\./(docs/[\w/-]+\.md)'", ''.join(lists)), *PASTED_ELSEWHERE}


def unpasted_blocks(root):
    """Blocks of commands that are neither executed nor named above; names above that stand for nothing."""
    pasted, used = pasted_pages(root), set()
    for document, text in documents(root):
        page = os.path.relpath(document, root)
        for block in doc_commands.shell_blocks(text):
            names = {key for key in NOT_PASTED if key[0] == page and block.startswith(key[1])}
            used |= names
            if not names and page not in pasted:
                yield f'{page}: {block.splitlines()[0]}'
    yield from (f'no block for {key}' for key in NOT_PASTED if key not in used)


def unknown_commands(root):
    commands = [words for document, text in documents(root)
                for words in doc_commands.cairn_commands(text, os.path.relpath(document, root) in pasted_pages(root))]
    return doc_commands.refused_commands(sys.argv[2], commands) if len(commands) > 200 else ['too few were found']


def unknown_requests(root):
    description, count = json.loads(read(root, 'spec', 'openapi.json')), 0
    for document, text in documents(root):
        for request in filter(None, map(doc_commands.request_of, doc_commands.curl_commands(text))):
            count += 1
            for flaw in doc_commands.flaws_of(description, *request):
                yield f'{os.path.relpath(document, root)}: {request[0]} {request[1]}: {flaw}'
    if count < 60:
        yield f'only {count} were found'


def refused_elements(root):
    """Parts of workflow files in the reference that are not valid with the rest around them."""
    parts = re.findall(r'^```yaml\n(.*?)^```', read(root, 'docs', 'workflow-files.md'), re.M | re.S)
    for part in parts:
        head = 'workflow: page\nversion: 1\n'
        if part.startswith('- '):
            part = f'{head}steps:\n{part}'
        elif part.startswith('input:'):
            part = f'{head}steps: [{{step: a}}]\n{part}'
        done = subprocess.run([sys.argv[2], 'validate', '-'], input=part, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=60, check=False)
        if done.returncode:
            yield f'{done.stdout}{part}'
    if len(parts) < 8:
        yield f'only {len(parts)} were found'


def unlisted_events(root):
    """Events that are written and not listed in spec/events.txt, and those that are listed only."""
    listed = set(re.findall(r'^(\w+) ', read(root, 'spec', 'events.txt'), re.M))
    code = ''.join(read(path) for path in files(root, 'src') if path.endswith(('.c', '.h', '.sql'))) + read(root, 'spec', 'words.txt')
    written = set(re.findall(r'\bflow_note\([^;"]*"(\w+)"', code))
    yield from (f'{name} is not listed' for name in sorted(written - listed))
    yield from (f'{name} is written nowhere' for name in sorted(listed) if not re.search(rf'\b{name}\b', code))
    if len(written) < 15:
        yield f'only {len(written)} were found'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, checks = sys.argv[1], Checks()
    print('1..8', flush=True)
    for name, find in [('every_link_leads_to_a_file_and_a_heading', broken_links),
                       ('no_document_outside_of_the_repository_is_cited', foreign_documents),
                       ('every_report_in_the_guide_to_http_is_a_route', unknown_reports),
                       ('every_block_of_commands_is_executed_or_says_why_not', unpasted_blocks),
                       ('every_command_in_the_documents_is_one_of_the_program', unknown_commands),
                       ('every_request_in_the_documents_is_described', unknown_requests),
                       ('every_element_in_the_reference_is_valid', refused_elements),
                       ('every_event_is_listed', unlisted_events)]:
        found = list(find(root))
        checks.check(name, not found, found)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
