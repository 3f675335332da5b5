#!/usr/bin/env python3
# tests/unit/test_migrations.py - no migration stops work for long on a large store.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_migrations.py SOURCE-FOLDER

Looks at the statements of every migration that concern tables of earlier ones.  On PostgreSQL a transaction neither builds an
index, nor reads or rewrites a table that grows with the work.  On SQLite, where each migration keeps other writers out, it may read
such tables a few times (a second for a million rows allows that), and rewrites none.  bench/migrations measures it.
"""
import pathlib
import re
import sys

# Tables that stay small however much work is recorded.  All others may have a million rows.
SMALL = {
    'cairn_schema', 'workflow_migration', 'workflow_registry', 'workflow_definition', 'workflow_retention', 'workflow_limit',
    'workflow_limit_gate', 'workflow_limit_turn', 'workflow_limit_bucket', 'workflow_group_type', 'workflow_schedule', 'workflow_worker',
    'workflow_intake', 'workflow_intake_next',      # a start is removed as soon as it has become an instance
}

# Up to this one nobody was promised that work goes on; they are as they were.
FREE = {'postgres': 12, 'sqlite': 11}

# Migrations whose blocks were looked at: each copies the grants of a function to the one that takes its place.
BLOCKS = {'tags', 'limit_turns'}

READS_MAX = 4

ADD_COLUMN = r'ADD COLUMN (?:IF NOT EXISTS )?("?\w+"?) '
POSTGRES = [
    (r'CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY IF NOT EXISTS )', 'builds an index: say CREATE INDEX CONCURRENTLY IF NOT EXISTS'),
    (r'ALTER TABLE .*' + ADD_COLUMN + r'[^,]*\b(CHECK|UNIQUE|PRIMARY KEY|REFERENCES|GENERATED)\b',
     'reads the table for a column: add the constraint apart, NOT VALID'),
    (r'ALTER TABLE .*' + ADD_COLUMN + r'[^,]*DEFAULT [^,]*\(', 'rewrites the table: the default is no constant'),
    (r'ALTER TABLE .*ALTER COLUMN \w+ (SET DATA )?TYPE', 'rewrites the table'),
    (r'ALTER TABLE .*SET NOT NULL', 'reads the table'),
    (r'ALTER TABLE .*ADD (CONSTRAINT \w+ )?(PRIMARY KEY|UNIQUE|EXCLUDE)', 'builds an index'),
    (r'ALTER TABLE .*(VALIDATE|ADD (CONSTRAINT|CHECK|FOREIGN)(?!((?!ADD CONSTRAINT).)*NOT VALID))', 'reads the table: say NOT VALID'),
    (r'(UPDATE|DELETE FROM|LOCK TABLE|LOCK|CLUSTER|REINDEX|TRUNCATE|VACUUM)\b', 'changes or locks the whole table'),
    (r'INSERT INTO .*(?<!EXISTS \(SELECT )FROM workflow\.', 'reads the table'),
    (r'DO\b', 'is a block, which this test cannot read'),
]
SQLITE = [
    (r'(UPDATE|DELETE FROM|INSERT INTO .*(?<!EXISTS \(SELECT 1 )FROM|DROP TABLE)\b', 'rewrites the table'),
    (r'ALTER TABLE .*CHECK', 'evaluates a check for each row: put PRAGMA ignore_check_constraints = ON before it, and OFF behind it'),
    (r'ALTER TABLE .*DROP COLUMN', 'rewrites the table'),
]
SQLITE_READS = r'CREATE (UNIQUE )?INDEX|ALTER TABLE .*CHECK'


def statements(text):
    text = re.sub(r'--.*', '', text)
    text = re.sub(r'\$body\$.*?\$body\$', '', text, flags=re.DOTALL)
    text = re.sub(r'CREATE TRIGGER [^;]*\bBEGIN\b.*?\bEND;', '', text, flags=re.DOTALL)
    return [' '.join(one.split()) for one in text.split(';') if one.strip()]


def tables_of(statement):
    """The tables that it names, without those that it asks EXISTS of."""
    named = re.findall(r'(?:TABLE|INTO|UPDATE|FROM|ON|JOIN)\s+(?:IF (?:NOT )?EXISTS\s+|ONLY\s+)?(?:workflow\.)?((?:workflow|cairn)_\w+)',
                       re.sub(r'EXISTS \(SELECT (1 )?FROM [\w.]+', '', statement))
    return set(named)


def flaws(store, text, known):
    """What the rules say of one migration; `known`: tables that were there before it."""
    rules, found, reads, is_unchecked = (POSTGRES if store == 'postgres' else SQLITE), [], 0, False
    for statement in statements(text):
        if statement.startswith('PRAGMA ignore_check_constraints'):
            is_unchecked = statement.endswith('ON')
        large = (tables_of(statement) & known) - SMALL
        if not large and statement != 'DO':
            continue
        reads += store == 'sqlite' and bool(re.match(SQLITE_READS, statement))
        for pattern, why in rules:
            if re.match(pattern, statement) and not (is_unchecked and 'check' in why):
                found.append(f'{why} ({statement[:60]})')
                break
    if reads > READS_MAX:
        found.append(f'reads large tables {reads} times: make two migrations of it')
    return found


def made_by(text):
    return set(re.findall(r'CREATE TABLE (?:IF NOT EXISTS )?(?:workflow\.)?(\w+)', re.sub(r'--.*', '', text)))


# (store, statements, part of what is found; '': nothing)
CASES = [
    ('postgres', 'CREATE INDEX i ON workflow.big (a);', 'builds an index'),
    ('postgres', 'CREATE UNIQUE INDEX i\n    ON workflow.big (a) WHERE b;', 'builds an index'),
    ('postgres', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON workflow.big (a);', ''),
    ('postgres', 'CREATE INDEX i ON workflow.workflow_limit (a);', ''),
    ('postgres', 'CREATE TABLE workflow.workflow_new (a int); CREATE INDEX i ON workflow.workflow_new (a);', ''),
    ('postgres', "ALTER TABLE workflow.big ADD COLUMN a text COLLATE \"C\" NOT NULL DEFAULT '';", ''),
    ('postgres', 'ALTER TABLE workflow.big ADD COLUMN a text, ADD COLUMN b int CHECK (b > 0);', 'reads the table for a column'),
    ('postgres', 'ALTER TABLE workflow.big ADD COLUMN a int UNIQUE;', 'reads the table for a column'),
    ('postgres', 'ALTER TABLE workflow.big ADD COLUMN a timestamptz DEFAULT clock_timestamp();', 'rewrites'),
    ('postgres', 'ALTER TABLE workflow.big ALTER COLUMN a TYPE bigint;', 'rewrites'),
    ('postgres', 'ALTER TABLE workflow.big ALTER COLUMN a SET NOT NULL;', 'reads'),
    ('postgres', 'ALTER TABLE workflow.big ADD CONSTRAINT c CHECK (a > 0) NOT VALID;', ''),
    ('postgres', 'ALTER TABLE workflow.big ADD CONSTRAINT c CHECK (a > 0);', 'reads'),
    ('postgres', 'ALTER TABLE workflow.big ADD CONSTRAINT c CHECK (a > 0), ADD CONSTRAINT d CHECK (b > 0) NOT VALID;', 'reads'),
    ('postgres', 'ALTER TABLE workflow.big ADD CONSTRAINT c CHECK (a > 0) NOT VALID, ADD CONSTRAINT d CHECK (b > 0);', 'reads'),
    ('postgres', 'ALTER TABLE workflow.big ADD CONSTRAINT c UNIQUE (a);', 'builds an index'),
    ('postgres', 'UPDATE workflow.big SET a = 1;', 'changes'),
    ('postgres', 'DELETE FROM workflow.big WHERE a;', 'changes'),
    ('postgres', 'LOCK TABLE workflow.big IN SHARE MODE;', 'changes or locks'),
    ('postgres', 'INSERT INTO workflow.small_one SELECT a FROM workflow.big;', 'reads'),
    ('postgres', 'INSERT INTO workflow.small_one SELECT NOT EXISTS (SELECT FROM workflow.big);', ''),
    ('postgres', 'DO $body$ BEGIN UPDATE workflow.big SET a = 1; END $body$;', 'block'),
    ('postgres', 'CREATE FUNCTION workflow.f() AS $body$ UPDATE workflow.big SET a = 1; $body$;', ''),
    ('postgres', 'DROP INDEX workflow.i; ALTER INDEX workflow.i_next RENAME TO i; -- UPDATE workflow.big SET a = 1;', ''),
    ('sqlite', 'CREATE INDEX i ON big (a);', ''),
    ('sqlite', 'CREATE INDEX i ON big (a);' * 5, 'reads large tables 5 times'),
    ('sqlite', 'ALTER TABLE big ADD COLUMN a TEXT;', ''),
    ('sqlite', 'ALTER TABLE big ADD COLUMN a TEXT CHECK (a <> 1);', 'evaluates a check'),
    ('sqlite', 'PRAGMA ignore_check_constraints = ON; ALTER TABLE big ADD COLUMN a TEXT CHECK (a <> 1);'
               'PRAGMA ignore_check_constraints = OFF;', ''),
    ('sqlite', 'UPDATE big SET a = 1;', 'rewrites'),
    ('sqlite', 'INSERT INTO workflow_next SELECT a FROM big;', 'rewrites'),
    ('sqlite', 'CREATE TRIGGER t AFTER INSERT ON big WHEN NEW.a\nBEGIN\n    UPDATE big SET a = 1;\nEND;', ''),
]


def tap(number, is_fine, name, notes=()):
    print(f'{"ok" if is_fine else "not ok"} {number} - {name}')
    for note in notes:
        print(f'# {note}')


def main():
    root, number = pathlib.Path(sys.argv[1]), 0
    for store, text, wanted in CASES:
        number += 1
        found = flaws(store, text.replace('big', 'workflow_run').replace('small_one', 'workflow_retention'), {'workflow_run'})
        is_fine = any(wanted in it for it in found) if wanted else not found
        tap(number, is_fine, f'{store}: {" ".join(text.split())[:80]}'.replace('#', ''), [] if is_fine else [f'found {found}'])
    for store in ('postgres', 'sqlite'):
        known = set()
        for path in sorted((root / 'src/store' / store / 'migrations').glob('*.sql')):
            text, migration = path.read_text(encoding='utf-8'), int(path.stem[:4])
            found = [] if migration <= FREE[store] else flaws(store, text, known)
            found = [it for it in found if path.stem[5:] not in BLOCKS or not it.startswith('is a block')]
            number += 1
            tap(number, not found, f'{store}/{path.stem} lets work go on', found)
            known |= made_by(text)
    print(f'1..{number}')


main()
