# tests/kill/doc_commands.py - the commands that the documents show, taken out of their text.
#
# SPDX-License-Identifier: Apache-2.0
"""
Most command lines of the documents are executed by other tests (test_guides.py and others).  Those that show a part only, with
`$ID` or `...` in it, are compared with what there is: the commands and options of the program, the routes of the OpenAPI description.
"""
import json
import re
import shlex
import subprocess

FENCED = re.compile(r'^( *)```(\w*)[^\n]*\n(.*?)^\1```', re.M | re.S)
INDENTED = re.compile(r'^(?:    |\t)\S.*$', re.M)
SPAN = re.compile(r'`([^`\n]+)`')
SERVER = re.compile(r'^(\$U|\$CAIRN_URL|(http://)?(localhost|127\.0\.0\.1):22476|https://host:22476)(?=/|$)')


def shell_blocks(text):
    """The bodies of blocks of ```sh."""
    return [body for _, kind, body in FENCED.findall(text) if kind == 'sh']


def code_of(text, is_pasted):
    """What no test executes: indented lines, code within sentences, and blocks unless they are pasted."""
    rest = FENCED.sub('', text)
    return ([] if is_pasted else shell_blocks(text)) + INDENTED.findall(rest) + SPAN.findall(rest)


def words_from(text):
    """The words of the one simple command that text begins with; None if it cannot be read."""
    text = re.sub(r'(^|\s)#.*', '', re.sub(r'\\\n\s*', ' ', text))
    text = re.sub(r'\$\([^()]*\)', 'X', text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars='|&;<>()\n')
    lexer.whitespace, lexer.commenters = ' \t', ''
    lexer.wordchars += '$[]{}@%,:=+*?!…\\^'
    words = []
    try:
        for word in lexer:
            if word[0] in '|&;<>()\n':
                break
            words.append(word)
    except ValueError:
        return None
    return words


def cairn_commands(text, is_pasted):
    """The words after `cairn` of each call, brackets around optional parts taken off."""
    for code in code_of(text, is_pasted):
        for found in re.finditer(r'(?<![\w./:@-])(?<!-m )(?<!--only )(?:build/)?cairn(?= +[a-z])', code):
            words = words_from(code[found.end():])
            if words:
                yield [word.strip('[]') for word in words]


def refused_commands(cairn, commands):
    """Those that the program does not know, with what it says.  --help makes it read the command, and do nothing.  An option may be
    named without its value, and a value by what stands for it, such as ROLE."""
    for words in sorted(set(map(tuple, commands))):
        end = len(words) - words[-1].startswith('-')
        done = subprocess.run([cairn, *words[:end], '--help', *words[end:]], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
        if done.returncode and not re.search(r'needs a value|cannot be "[A-Z]+"', done.stderr):
            yield f'cairn {" ".join(words)}: {done.stderr.splitlines()[0]}'


def curl_commands(text):
    for block in shell_blocks(text):
        for found in re.finditer(r'(?<![\w-])curl(?= )', block):
            words = words_from(block[found.end():])
            if words:
                yield words


def request_of(words):
    """Method, target and body of a call of curl; None if it is not for Cairn."""
    method, body, target, rest = None, None, None, list(words)
    while rest:
        word = rest.pop(0)
        if word in ('-X', '--request'):
            method = rest.pop(0)
        elif word in ('-d', '--data', '--data-binary'):
            body = rest.pop(0)
        elif word in ('-H', '--header', '--retry', '--retry-delay', '--max-time'):
            rest.pop(0)
        elif SERVER.match(word):
            target = SERVER.sub('', word)
    return (method or ('GET' if body is None else 'POST'), target, body) if target else None


def resolved(description, thing):
    """What a reference such as #/components/schemas/Job stands for."""
    for name in thing.get('$ref', '').split('/')[1:]:
        description = description[name]
    return description if '$ref' in thing else thing


def fields_of(description, schema):
    """The members that an object may have; None: any."""
    schema = resolved(description, schema)
    if 'oneOf' in schema:
        found = [fields_of(description, one) for one in schema['oneOf']]
        return None if None in found else set().union(*found)
    return set(schema['properties']) if 'properties' in schema else None


def operation_of(description, method, path):
    for template, methods in description['paths'].items():
        pattern = re.sub(r'\{\w+\}', '[^/]+', template)
        if re.fullmatch(pattern, path) and method.lower() in methods:
            return methods[method.lower()]
    return None


def flaws_of(description, method, target, body):
    """What the description says against a request."""
    path, _, query = target.partition('?')
    operation = operation_of(description, method, path)
    if not operation:
        yield 'there is no such route'
        return
    known = {found['name'] for found in (resolved(description, one) for one in operation.get('parameters', []))}
    yield from (f'the query has no {name}' for name in re.findall(r'(?:^|&)(\w+)=', query) if name not in known)
    content = operation.get('requestBody', {}).get('content', {})
    schema = content.get('application/json', {}).get('schema')
    if body is None or body.startswith('@') or schema is None:
        return
    fields = fields_of(description, schema)
    try:
        members = json.loads(re.sub(r'\$\w+', '0', body))
        yield from (f'the body has no {name}' for name in members if fields is not None and name not in fields)
    except ValueError as error:
        yield f'the body is not JSON: {error}'
