# tests/kill/saga_rules.py - what the rows of the order saga (saga.yaml) must say once all have ended.
#
# SPDX-License-Identifier: Apache-2.0
"""
RULES: a sentence, and SQL on a copy of the rows that finds whatever breaks it.  The rules know the file
only through STEPS and REACH below, and nothing of how the engine keeps an undo: what failed first
and in which order things were undone is read from the events.
"""
import collections
import sqlite3

# The tasks.  Their numbers are the salts of saga_handler.sh.
Step = collections.namedtuple('Step', 'name max_attempts undo_max is_once is_undo_once',
                              defaults=(False, False))
STEPS = [
    Step('reserve', 2, 3),
    Step('charge', 1, 3, is_once=True),
    Step('pick', 2, 2),
    Step('restock', 1, 0),
    Step('pack', 2, 1),
    Step('ship', 2, 3),
    Step('invoice', 1, 0, is_once=True),
    Step('insure', 1, 1, is_undo_once=True),
    Step('label', 2, 3),
    Step('settle', 2, 2),
    Step('mail', 2, 2),
    Step('file', 2, 0),
    Step('close', 2, 2),
]
OTHERS = ['in_stock', 'fulfilment', 'packed', 'is_large', 'fulfilment_join', 'settled', 'closing',
          'approval', 'closing_join']

# What is undone when a step fails: everything behind its nearest save point.
ALL = [step.name for step in STEPS] + OTHERS
CLOSING = ['closing', 'mail', 'file', 'approval', 'closing_join', 'close']
REACH = {step.name: ALL for step in STEPS}
REACH.update({name: CLOSING for name in ('mail', 'file', 'close')})
REACH['ship'] = ['ship']


def fate_of(order, salt, seed):
    """As saga_handler.sh: below 10 it always fails, below 20 its first call does.  And the hash."""
    number = (order * 7919 + salt * 104729 + seed) & 0xffffffff
    for _ in range(2):
        number = ((number >> 16) ^ number) * 73244475 & 0xffffffff
    number = (number >> 16) ^ number
    return number % 100, number


# The rows are looked at in a database of our own: one dialect, and indexes where the rules need them.
# s: steps; e: events; both know their instance as iid.  The queries suit both stores.
COPIES = {
    's(iid, ended, name, kind, status, attempts, max_attempts, undo_attempts, commit_no, is_busy)': '''
        SELECT i.id, i.status, s.name, s.kind, s.status, s.attempts, s.max_attempts,
               s.compensation_attempts, coalesce(s.commit_no, 0),
               CASE WHEN s.is_ready OR s.is_held OR s.locked_by IS NOT NULL OR s.due_at IS NOT NULL
                    THEN 1 ELSE 0 END
          FROM workflow.workflow_step s
          JOIN workflow.workflow_instance i ON i.seq = s.instance_seq''',
    'e(iid, id, type, step, status, reason)': '''
        SELECT workflow_id, id, event_type, coalesce(step, ''), coalesce(data ->> 'status', ''),
               coalesce(data ->> 'reason', '')
          FROM workflow.workflow_event''',
    'instance(id, status, counts, awaited)': '''
        SELECT id, status, active_count + wait_count + sleep_count + decision_count + parked_count,
               awaited_count
          FROM workflow.workflow_instance''',
    'dlq(iid, step, is_open, reason)': '''
        SELECT instance_id, step_name, CASE WHEN is_open THEN 1 ELSE 0 END, reason
          FROM workflow.workflow_dlq''',
    'decision(iid)': 'SELECT instance_id FROM workflow.workflow_human_decision',
}

# began: the failure that an undo began with; reach: what it undoes; undone: the end of each undo,
# also of those that need no handler.
MORE = '''
    CREATE INDEX s_iid ON s (iid, name);
    CREATE INDEX e_step ON e (iid, step, type);
    CREATE INDEX e_id ON e (iid, id);
    CREATE INDEX e_type ON e (iid, type);
    CREATE TABLE began AS
           SELECT iid, min(id) AS id, step AS name FROM e
            WHERE type = 'step_failed' AND status = 'failed' GROUP BY iid;
    CREATE TABLE undone AS
           SELECT iid, id, step, type FROM e
            WHERE type IN ('compensation_success', 'compensation_max_retries_exceeded');
    CREATE INDEX began_iid ON began (iid);
    CREATE INDEX undone_iid ON undone (iid, step);
    ANALYZE;
'''


def fill(database, table, rows):
    columns = table[table.index('(') + 1:-1].split(', ')
    number = ('id', 'attempts', 'max_attempts', 'undo_attempts', 'commit_no', 'is_busy', 'counts',
              'awaited', 'is_open', 'undo_max')
    kinds = [f'{column} {"INTEGER" if column in number else "TEXT"}' for column in columns]
    database.execute(f'CREATE TABLE {table[:table.index("(")]} ({", ".join(kinds)})')
    database.executemany(f'INSERT INTO {table} VALUES ({", ".join("?" for _ in columns)})', rows)


def copy(store):
    """What RULES can be asked of."""
    database = sqlite3.connect(':memory:')
    fill(database, 'plan(name, undo_max)', [(step.name, step.undo_max) for step in STEPS])
    fill(database, 'reach(first, name)', [(first, name) for first, names in REACH.items()
                                          for name in names])
    for table, sql in COPIES.items():
        fill(database, table, store.ask(sql))
    database.executescript(MORE)
    return database


RULES = {
    'nothing_is_left_under_way': '''
        SELECT iid, ended, name, status FROM s
         WHERE is_busy OR status NOT IN ('completed', 'confirmed', 'rejected', 'failed',
                                         'rolled_back', 'skipped')''',
    'the_instances_counts_are_at_rest': '''
        SELECT id, status, counts, awaited FROM instance
         WHERE counts <> 0 OR (awaited <> 0 AND status <> 'aborted')''',

    # ---- completed
    'a_completed_instance_has_every_step_done_or_passed_over': '''
        SELECT iid, name, status FROM s
         WHERE ended = 'completed' AND status NOT IN ('completed', 'confirmed') AND NOT (
               status = 'skipped' AND name IN ('pick', 'restock', 'insure') AND EXISTS (
               SELECT 1 FROM e WHERE e.iid = s.iid AND e.step = s.name AND type = 'step_skipped'
                  AND reason IN ('condition', 'on_failure: continue')))''',
    'a_condition_takes_one_list': '''
        SELECT iid FROM s WHERE ended = 'completed' AND name IN ('pick', 'restock') AND EXISTS (
               SELECT 1 FROM e WHERE e.iid = s.iid AND e.step = s.name AND reason = 'condition')
         GROUP BY iid HAVING count(*) <> 1''',
    'every_call_of_a_completed_instance_is_accounted_for': '''
        SELECT s.iid, s.name, s.attempts FROM s JOIN e ON e.iid = s.iid AND e.step = s.name
         WHERE ended = 'completed' AND kind = 'task'
         GROUP BY s.iid, s.name, s.attempts
        HAVING sum(CASE WHEN e.type = 'step_started' THEN 1 ELSE 0 END) <>
               s.attempts + sum(CASE WHEN e.type = 'step_completed' OR e.reason = 'released'
                                     THEN 1 ELSE 0 END)''',

    # ---- failed
    'a_failed_instance_has_everything_behind_its_save_point_undone': '''
        SELECT s.iid, began.name AS first, s.name, s.status
          FROM s JOIN began ON began.iid = s.iid
          JOIN reach ON reach.first = began.name AND reach.name = s.name
         WHERE ended = 'failed' AND s.status NOT IN ('rolled_back', 'skipped') AND NOT (
               s.status = 'failed' AND EXISTS (
               SELECT 1 FROM dlq WHERE dlq.iid = s.iid AND dlq.step = s.name AND is_open
                  AND reason = 'compensation max retries exceeded'))''',
    'a_failed_instance_keeps_what_is_before_its_save_point': '''
        SELECT s.iid, began.name AS first, s.name, s.status
          FROM s JOIN began ON began.iid = s.iid
          LEFT JOIN reach ON reach.first = began.name AND reach.name = s.name
         WHERE ended = 'failed' AND reach.name IS NULL
           AND s.status NOT IN ('completed', 'confirmed', 'skipped')''',
    'whatever_was_called_and_has_a_compensation_is_undone': '''
        SELECT s.iid, began.name AS first, s.name, s.status
          FROM s JOIN began ON began.iid = s.iid
          JOIN reach ON reach.first = began.name AND reach.name = s.name
          JOIN plan ON plan.name = s.name AND undo_max > 0
          JOIN e ON e.iid = s.iid AND e.step = s.name AND e.type = 'step_started'
         WHERE ended = 'failed' AND s.status = 'skipped' ''',
    'a_failed_instance_has_a_failure': '''
        SELECT i.id FROM instance i LEFT JOIN began ON began.iid = i.id
         WHERE i.status = 'failed' AND began.iid IS NULL''',
    'nothing_starts_after_the_failure': '''
        SELECT e.iid, e.step, e.type FROM e JOIN began ON began.iid = e.iid AND began.id < e.id
         WHERE e.type IN ('step_started', 'step_ready', 'step_retry')
           AND e.status <> 'compensation' ''',
    'only_a_failed_undo_is_in_the_dlq': '''
        SELECT s.iid, s.name, s.status FROM dlq JOIN s ON s.iid = dlq.iid AND s.name = dlq.step
         WHERE s.status <> 'failed' OR NOT EXISTS (
               SELECT 1 FROM undone WHERE undone.iid = s.iid AND undone.step = s.name
                  AND undone.type = 'compensation_max_retries_exceeded')''',

    # ---- the undo
    'undone_first_is_what_failed_and_then_the_latest_commit': '''
        SELECT * FROM (
               SELECT iid, step, place, lag(place) OVER (PARTITION BY iid ORDER BY id) AS before
                 FROM (SELECT undone.iid, undone.id, undone.step,
                              CASE WHEN began.name = undone.step THEN 1000000
                                   ELSE s.commit_no END AS place
                         FROM undone JOIN s ON s.iid = undone.iid AND s.name = undone.step
                         JOIN began ON began.iid = undone.iid) AS placed) AS pairs
         WHERE before <= place OR place IS NULL OR place = 0''',
    'undos_are_made_one_at_a_time': '''
        SELECT * FROM (
               SELECT e.iid, e.step, e.type,
                      lag(e.step) OVER (PARTITION BY e.iid ORDER BY e.id) AS step_before,
                      lag(e.type) OVER (PARTITION BY e.iid ORDER BY e.id) AS type_before
                 FROM e JOIN plan ON plan.name = e.step AND undo_max > 0
                WHERE e.type IN ('compensation_started', 'compensation_success',
                                 'compensation_max_retries_exceeded')) AS pairs
         WHERE CASE WHEN type = 'compensation_started' THEN type_before = type
                    ELSE type_before IS NULL OR type_before <> 'compensation_started'
                         OR step_before <> step END''',
    'nothing_is_undone_twice': '''
        SELECT iid, step, type FROM e
         WHERE type IN ('compensation_started', 'compensation_success',
                        'compensation_max_retries_exceeded')
         GROUP BY iid, step, type HAVING count(*) > 1''',
    'nothing_is_undone_that_did_not_run': '''
        SELECT s.iid, s.name, s.status FROM s JOIN undone u ON u.iid = s.iid AND u.step = s.name
         WHERE NOT EXISTS (
               SELECT 1 FROM e WHERE e.iid = s.iid AND e.step = s.name AND e.id < u.id
                  AND CASE WHEN s.kind = 'task' THEN e.type = 'step_started'
                                                     AND e.status = 'running'
                           ELSE e.type = 'step_completed' END)''',
    'an_undo_waits_for_whoever_still_runs': '''
        SELECT e.iid, e.step FROM e JOIN undone ON undone.iid = e.iid AND undone.id < e.id
         WHERE e.type IN ('step_completed', 'step_failed', 'step_skipped')''',

    # ---- any
    'nothing_completes_twice': '''
        SELECT iid, step FROM e WHERE type = 'step_completed'
         GROUP BY iid, step HAVING count(*) > 1''',
    'what_follows_a_join_runs_behind_it': '''
        SELECT e.iid, e.step FROM e
         WHERE e.type = 'step_started' AND e.step IN ('settle', 'close') AND NOT EXISTS (
               SELECT 1 FROM e AS j WHERE j.iid = e.iid AND j.type = 'step_completed' AND j.id < e.id
                  AND j.step = CASE e.step WHEN 'settle' THEN 'fulfilment_join'
                                           ELSE 'closing_join' END)''',
    'a_join_waits_for_every_branch': '''
        SELECT j.iid FROM e AS j
         WHERE j.type = 'step_completed' AND j.step IN ('fulfilment_join', 'closing_join') AND (
               SELECT count(*) FROM e
                WHERE e.iid = j.iid AND e.id < j.id AND e.type = 'step_completed'
                  AND e.step IN ('ship', 'is_large', 'label', 'file', 'approval')) <>
               CASE j.step WHEN 'fulfilment_join' THEN 3 ELSE 5 END''',
    'attempts_never_exceed_max_attempts': '''
        SELECT iid, s.name, attempts, undo_attempts FROM s JOIN plan ON plan.name = s.name
         WHERE attempts > max_attempts OR undo_attempts > undo_max''',
    'a_decision_is_made_once': '''
        SELECT s.iid, s.status FROM s LEFT JOIN e ON e.iid = s.iid AND e.type = 'human_decision'
         WHERE s.name = 'approval' GROUP BY s.iid, s.status
        HAVING count(e.id) > 1 OR (s.status IN ('confirmed', 'rejected') AND count(e.id) <> 1)''',
    'a_decision_is_written_down_once': '''
        SELECT e.iid FROM e LEFT JOIN decision d ON d.iid = e.iid
         WHERE e.type = 'human_decision' GROUP BY e.iid HAVING count(d.iid) <> 1''',
    'only_a_rejection_aborts_and_nothing_is_undone_then': '''
        SELECT s.iid, s.name, s.status FROM s
         WHERE (ended = 'aborted' AND (s.status IN ('rolled_back', 'failed') OR
                                       (name = 'approval' AND s.status <> 'rejected')))
            OR (ended <> 'aborted' AND s.status = 'rejected')''',

    # ---- the audit
    'each_instance_started_once': '''
        SELECT i.id, count(e.id) FROM instance i
          LEFT JOIN e ON e.iid = i.id AND e.type = 'workflow_started'
         GROUP BY i.id HAVING count(e.id) <> 1''',
    'each_end_has_its_event_and_only_that': '''
        SELECT i.id, i.status, count(e.id), min(e.type) FROM instance i
          LEFT JOIN e ON e.iid = i.id AND e.type IN ('workflow_completed', 'workflow_failed',
                                                     'workflow_cancelled', 'workflow_aborted')
         GROUP BY i.id, i.status
        HAVING count(e.id) <> 1 OR min(e.type) <> 'workflow_' || i.status''',
    'nothing_happens_after_the_end': '''
        SELECT e.iid, e.type, e.step FROM e JOIN e AS last ON last.iid = e.iid AND last.id < e.id
         WHERE last.type IN ('workflow_completed', 'workflow_failed', 'workflow_aborted')''',
    'each_steps_end_has_its_event': '''
        SELECT s.iid, s.name, s.status FROM s
         WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.iid = s.iid AND e.step = s.name AND CASE s.status
               WHEN 'completed' THEN e.type = 'step_completed'
               WHEN 'confirmed' THEN e.type = 'step_completed'
               WHEN 'rejected' THEN e.type = 'human_decision'
               WHEN 'rolled_back' THEN e.type = 'compensation_success'
               WHEN 'skipped' THEN e.type IN ('step_skipped', 'step_failed')
               WHEN 'failed' THEN e.type = 'compensation_max_retries_exceeded' END)''',
}
