#!/usr/bin/env python3
# tests/kill/test_sql.py - the SQL of the guide to jobs, executed by roles with the rights that it prints.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_sql.py CAIRN GUIDE

The last block of ```sql has the rights.  The first two blocks are run by the role `shop`, the next two by
the role `billing`; both have these rights on Cairn's tables and no others.
"""
import re
import shutil
import subprocess
import sys
import tempfile

from scene import Checks, Postgres, end_when_told

ID = "'018f...'"


class Session:
    """One connection's worth of SQL, by one role."""

    def __init__(self, store, role):
        self.store, self.role = store, role

    def run(self, sql):
        """The rows that came back; an exception for what was refused."""
        return self.store.ask(f'SET SESSION AUTHORIZATION {self.role}; {sql}')[1:]


def blocks_of(guide):
    with open(guide, encoding='utf-8') as text:
        return re.findall(r'^```sql\n(.*?)^```', text.read(), re.M | re.S)


def refusal(session, sql):
    try:
        session.run(sql)
    except RuntimeError as refused:
        return str(refused)
    return 'nothing was refused'


def examine(store, blocks, checks):
    produce, cancel, claim, finish, rights = blocks
    store.ask('CREATE ROLE shop; CREATE ROLE billing; CREATE TABLE orders (id int, total numeric);'
              ' GRANT INSERT ON orders TO shop')
    shop, billing = Session(store, 'shop'), Session(store, 'billing')
    seen = refusal(shop, produce)
    checks.check('without_the_rights_nothing_goes', 'permission denied' in seen, seen)

    store.ask(rights)
    shop.run(produce)
    rows = store.ask('SELECT id, status FROM workflow.workflow_run')
    checks.check('the_producer_can_record_a_job', len(rows) == 1 and rows[0][1] == 'pending', rows)
    job = f"'{rows[0][0]}'"
    shop.run(produce)
    count = store.ask('SELECT count(*) FROM workflow.workflow_run')
    checks.check('and_the_same_job_again', count == [('1',)], count)

    billing.run(claim.replace(ID, job))
    billing.run(f'INSERT INTO workflow.workflow_event (workflow_id, event_type, data)'
                f" VALUES ({job}, 'started', '{{}}')")
    billing.run(finish.replace(ID, job))
    row = store.ask(f'SELECT status FROM workflow.workflow_run WHERE id = {job}')
    checks.check('the_worker_can_claim_and_finish_it', row == [('succeeded',)], row)

    shop.run(produce.replace('invoice-17', 'invoice-18'))
    other = store.ask("SELECT id FROM workflow.workflow_run WHERE status = 'pending'")[0][0]
    shop.run(cancel.replace(ID, f"'{other}'"))
    row = store.ask(f"SELECT status FROM workflow.workflow_run WHERE id = '{other}'")
    checks.check('the_producer_can_cancel_one', row == [('cancelled',)], row)
    seen = refusal(shop, 'SELECT payload FROM workflow.workflow_run')
    checks.check('the_producer_cannot_read_payloads', 'permission denied' in seen, seen)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    end_when_told()
    checks = Checks()
    folder = tempfile.mkdtemp(prefix='cairn-sql-', dir='/tmp')
    store = None
    try:
        store = Postgres(folder)
        subprocess.run([sys.argv[1], 'migrate', '--url', store.url], check=True,
                       stdout=subprocess.DEVNULL)
        print('1..6', flush=True)
        examine(store, blocks_of(sys.argv[2]), checks)
    finally:
        if store:
            store.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())
