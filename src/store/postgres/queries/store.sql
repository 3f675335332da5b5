-- name: begin_settings
-- doing: begin a transaction
-- What holds in a transaction of the engine's, and its time.
--
--   $1  how long to wait for a lock, such as '5000ms'
--
-- cairn.engine and cairn.leases silence the triggers that are there for everybody else.  Plans are made once and
-- kept, perhaps on an empty table; so whatever would be right only for few rows is turned off, and
-- an ordered index is what remains.  All of it ends with the transaction, as a pooler demands.
-- One row: the database's clock; and a number for the events of a transaction that can write, so that they
-- need no question of their own.  It is what workflow.take_log() gives, without the call: first the mark, then the number.
SELECT clock_timestamp(),
       CASE WHEN current_setting('transaction_read_only') = 'off'
             AND pg_advisory_xact_lock_shared(
                     (25441::bigint << 40)
                     | (SELECT q.last_value - CASE WHEN q.is_called THEN 0 ELSE 1 END
                          FROM workflow.workflow_event_id_seq AS q))::text IS NOT NULL
            THEN nextval('workflow.workflow_event_id_seq') END,
       set_config('cairn.events', '1', true),
       set_config('cairn.engine', '1', true),
       set_config('cairn.leases', '1', true),
       set_config('lock_timeout', $1, true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true),
       set_config('enable_sort', 'off', true),
       set_config('enable_incremental_sort', 'off', true),
       set_config('jit', 'off', true)


-- name: clock
-- doing: read the clock
-- The database's clock at this moment, not at the transaction's start.
SELECT clock_timestamp()


-- name: notify
-- doing: notify others
-- Tells engines that listen, when this transaction is committed.
--
--   $1  who we are, so that we need not wake ourselves, and what has happened: see watch.c
SELECT pg_notify('cairn', $1)


-- name: notify_ends
-- doing: tell of ends
-- Tells engines that listen of jobs and instances that have ended, if one of them waits for such.  Commits
-- with a notice queue for one lock of the database, so those that nobody waits for have none.
--
--   $1  who we are, and what has happened
--   $2  who we are
SELECT pg_notify('cairn', $1)
 WHERE EXISTS (SELECT FROM workflow.workflow_waiter AS w
                WHERE w.engine <> $2 AND w.until > clock_timestamp())


-- name: inspect
-- doing: inspect the database
-- What doctor wants to know.
--
--   $1  now
--
-- The last column: how many of the latest 100,000 jobs are leased without a lease row.
SELECT current_setting('server_version'),
       (SELECT max(version) FROM workflow.cairn_schema),
       clock_timestamp(),
       (SELECT count(*)
          FROM workflow.workflow_run AS r
         WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids)
                                   FROM workflow.workflow_run_lease AS l
                                  WHERE l.until < $1::timestamptz))
           AND r.status = 'leased' AND r.lease_until < $1::timestamptz)
       + (SELECT count(*)
            FROM workflow.workflow_step AS s
           WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
             AND s.due_at <= $1::timestamptz),
       pg_database_size(current_database()),
       format('fsync=%s synchronous_commit=%s encoding=%s',
              current_setting('fsync'), current_setting('synchronous_commit'),
              current_setting('server_encoding')),
       (SELECT o.created_at
          FROM workflow.workflow_outbox AS o
         WHERE o.acked_at IS NULL
         ORDER BY o.id
         LIMIT 1),
       (SELECT count(*)
          FROM workflow.workflow_run AS r
         WHERE r.id = ANY (ARRAY(SELECT o.id
                                   FROM workflow.workflow_run_order AS o
                                  ORDER BY o.seq DESC
                                  LIMIT 100000))
           AND r.status = 'leased'
           AND r.id NOT IN (SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))


-- name: begin
-- doing: begin a transaction
BEGIN ISOLATION LEVEL READ COMMITTED


-- name: begin_read_only
-- doing: begin a transaction
BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY


-- name: commit
COMMIT


-- name: rollback
-- doing: roll back
ROLLBACK
