#!/usr/bin/env python3
# tests/kill/test_docs.py - what the documents name is there.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_docs.py SOURCE-FOLDER
"""
import json
import os
import re
import sys

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


def broken_links(root):
    """Links in documents to files that are not there."""
    documents = [os.path.join(root, 'README.md'), *files(root, 'docs', 'sdk', 'examples')]
    for document in documents:
        if not document.endswith('.md'):
            continue
        text = re.sub(r'^```.*?^```|`[^`\n]*`', '', read(document), flags=re.M | re.S)     # code has other brackets
        for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', text):
            path = os.path.join(os.path.dirname(document), target)
            if '://' not in target and not os.path.exists(path):
                yield f'{os.path.relpath(document, root)}: {target}'


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


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root, checks = sys.argv[1], Checks()
    print('1..3', flush=True)
    for name, find in [('every_link_leads_to_a_file', broken_links),
                       ('no_document_outside_of_the_repository_is_cited', foreign_documents),
                       ('every_report_in_the_guide_to_http_is_a_route', unknown_reports)]:
        found = list(find(root))
        checks.check(name, not found, found)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
