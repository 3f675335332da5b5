-- name: promote_jobs
-- doing: mark jobs ready
-- Marks rows ready whose time has come, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest time to look at
--
-- For each type and priority: the lowest (seq >> 8) that is now ready, and how many rows.  Walks
-- idx_workflow_run_scheduled.
WITH due AS MATERIALIZED (
    SELECT r.id
      FROM workflow.workflow_run AS r
     WHERE r.status = 'pending' AND NOT r.is_ready
       AND r.run_at >= $3::timestamptz AND r.run_at <= $1::timestamptz
     ORDER BY r.run_at
     LIMIT $2::bigint
       FOR NO KEY UPDATE SKIP LOCKED
), ready AS (
    UPDATE workflow.workflow_run AS r
       SET is_ready = true
      FROM due
     WHERE r.id = due.id
    RETURNING r.type, r.priority, r.seq >> 8 AS key
)
SELECT ready.type, ready.priority, min(ready.key), count(*)
  FROM ready
 GROUP BY ready.type, ready.priority


-- name: promote_steps
-- doing: mark steps ready
-- Makes claimable what is due, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest time to look at
--
-- For each type and rank, which is (version << 7) | priority: the earliest next_run_at that is now
-- ready, in microseconds since 1970 (0 for NULL), and how many rows.  Walks
-- idx_workflow_step_scheduled, whose condition is repeated here word for word.
WITH due AS MATERIALIZED (
    SELECT s.instance_id, s.seq
      FROM workflow.workflow_step AS s
     WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
       AND s.status IN ('ready', 'compensation')
       AND s.due_at >= $3::timestamptz AND s.due_at <= $1::timestamptz
     ORDER BY s.due_at
     LIMIT $2::bigint
       FOR NO KEY UPDATE SKIP LOCKED
), ready AS (
    UPDATE workflow.workflow_step AS s
       SET is_ready = true,
           due_at   = NULL
      FROM due
     WHERE s.instance_id = due.instance_id
       AND s.seq = due.seq
    RETURNING s.task_type, (s.version::bigint << 7) | s.priority AS rank,
              coalesce(s.next_run_at, 'epoch') AS since
)
SELECT ready.task_type, ready.rank,
       (extract(epoch FROM least(greatest(min(ready.since), 'epoch'), '9999-12-31'))
        * 1000000)::bigint,
       count(*)
  FROM ready
 GROUP BY ready.task_type, ready.rank


-- name: find_due_steps
-- Whose lease, wait, sleep or decision is over, the earliest first; not locked.
--
--   $1  now
--   $2  how many at most
--   $3, $4  the earliest times to look at, of leases and of the others
--
-- Walks idx_workflow_step_leased and idx_workflow_step_timer, whose conditions are repeated here
-- word for word.
SELECT due.instance_id::text, due.seq
  FROM ((SELECT s.instance_id, s.seq, s.due_at
           FROM workflow.workflow_step AS s
          WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
            AND s.due_at >= $3::timestamptz AND s.due_at <= $1::timestamptz
          ORDER BY s.due_at
          LIMIT $2::bigint)
        UNION ALL
        (SELECT s.instance_id, s.seq, s.due_at
           FROM workflow.workflow_step AS s
          WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
            AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
            AND s.due_at >= $4::timestamptz AND s.due_at <= $1::timestamptz
          ORDER BY s.due_at
          LIMIT $2::bigint)) AS due
 ORDER BY due.due_at, due.instance_id, due.seq
 LIMIT $2::bigint


-- name: find_due_instances
-- doing: find delayed starts
-- Instances whose start has come, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest time to look at
--
-- Walks idx_workflow_instance_start.
SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.status = 'pending' AND i.start_at IS NOT NULL
   AND i.start_at >= $3::timestamptz AND i.start_at <= $1::timestamptz
 ORDER BY i.start_at
 LIMIT $2::bigint


-- name: next_due
-- doing: find the next timer
-- When the next timers are due.
--
--   $1..$12  which times to look at, from and to: of jobs for later, of their leases, of retries, leases
--            and waits of steps, of delayed starts
--   $13  whether to look at every lease of a job
--
-- One row: the earliest of each, NULL for none, followed by the microseconds since the statement
-- began; then whether plain SQL has written a start, relatives are to be told, or a schedule's waiting run can
-- start; then, if $13 says so, the earliest end of a job's lease; at last the earliest time of a schedule.  A lease row is due at that time or earlier (settle_leases), and
-- a lease has run out a microsecond after its end.  One look at the head of each index of timers, whose
-- conditions are repeated here word for word.
SELECT (SELECT r.run_at
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND NOT r.is_ready
           AND r.run_at >= $1::timestamptz AND r.run_at <= $2::timestamptz
         ORDER BY r.run_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT l.until
          FROM workflow.workflow_run_lease AS l
         WHERE l.until >= $3::timestamptz AND l.until <= $4::timestamptz
         ORDER BY l.until
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
           AND s.status IN ('ready', 'compensation')
           AND s.due_at >= $5::timestamptz AND s.due_at <= $6::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
           AND s.due_at >= $7::timestamptz AND s.due_at <= $8::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
           AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
           AND s.due_at >= $9::timestamptz AND s.due_at <= $10::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT i.start_at
          FROM workflow.workflow_instance AS i
         WHERE i.status = 'pending' AND i.start_at IS NOT NULL
           AND i.start_at >= $11::timestamptz AND i.start_at <= $12::timestamptz
         ORDER BY i.start_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       EXISTS (SELECT
                 FROM workflow.workflow_intake AS n
                WHERE n.instance_id IS NULL AND n.error IS NULL)
       OR EXISTS (SELECT FROM workflow.workflow_instance AS t WHERE t.is_telling)
       OR EXISTS (SELECT
                    FROM workflow.workflow_schedule AS s
                   WHERE s.waiting_at IS NOT NULL AND NOT s.is_paused
                     AND NOT EXISTS (SELECT
                        FROM workflow.workflow_schedule_run AS run
                       WHERE run.is_open AND run.schedule = s.name
                         AND (EXISTS (SELECT
                                        FROM workflow.workflow_run AS job
                                       WHERE job.id = run.run_id AND job.status IN ('pending', 'leased')
                                         AND job.deleted_at IS NULL)
                              OR EXISTS (SELECT
                                           FROM workflow.workflow_instance AS i
                                          WHERE i.id = run.run_id
                                            AND i.status NOT IN ('completed', 'failed', 'cancelled', 'aborted'))))),
       CASE WHEN $13::boolean
            THEN (SELECT min(r.lease_until)
                    FROM workflow.workflow_run AS r
                   WHERE r.id = ANY (ARRAY(
                         SELECT unnest(l.ids)
                           FROM workflow.workflow_run_lease AS l
                          WHERE l.until >= $3::timestamptz AND l.until <= $4::timestamptz))
                     AND r.status = 'leased') END,
       (SELECT s.due_at
          FROM workflow.workflow_schedule AS s
         WHERE s.due_at IS NOT NULL
         ORDER BY s.due_at
         LIMIT 1)


-- name: check_timers
-- doing: find the next timer
-- The earliest timer of one kind in a part of its index.
--
--   $1  which: 0 jobs for later, 1 leases of jobs, 2 retries of steps, 3 their leases, 4 waits and
--       sleeps, 5 delayed starts
--   $2, $3  from this time on, and before that one, in microseconds since 1970; 0 is before
--           everything
--
-- One row: the time likewise, NULL for none; how long it took in microseconds.
SELECT CASE WHEN found.at IS NOT NULL
            THEN (extract(epoch FROM greatest(found.at, 'epoch')) * 1000000)::bigint END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
  FROM (SELECT CASE $1::bigint
                   WHEN 0 THEN (SELECT r.run_at
                               FROM workflow.workflow_run AS r
                              WHERE r.status = 'pending' AND NOT r.is_ready
                                AND r.run_at >= part.first AND r.run_at < part.before
                              ORDER BY r.run_at
                              LIMIT 1)
                   WHEN 1 THEN (SELECT l.until
                               FROM workflow.workflow_run_lease AS l
                              WHERE l.until >= part.first AND l.until < part.before
                              ORDER BY l.until
                              LIMIT 1)
                   WHEN 2 THEN (SELECT s.due_at
                               FROM workflow.workflow_step AS s
                              WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
                                AND s.status IN ('ready', 'compensation')
                                AND s.due_at >= part.first AND s.due_at < part.before
                              ORDER BY s.due_at
                              LIMIT 1)
                   WHEN 3 THEN (SELECT s.due_at
                               FROM workflow.workflow_step AS s
                              WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
                                AND s.due_at >= part.first AND s.due_at < part.before
                              ORDER BY s.due_at
                              LIMIT 1)
                   WHEN 4 THEN (SELECT s.due_at
                               FROM workflow.workflow_step AS s
                              WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
                                AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
                                AND s.due_at >= part.first AND s.due_at < part.before
                              ORDER BY s.due_at
                              LIMIT 1)
                   WHEN 5 THEN (SELECT i.start_at
                               FROM workflow.workflow_instance AS i
                              WHERE i.status = 'pending' AND i.start_at IS NOT NULL
                                AND i.start_at >= part.first AND i.start_at < part.before
                              ORDER BY i.start_at
                              LIMIT 1)
               END AS at
          FROM (SELECT CASE WHEN $2::bigint = 0 THEN '-infinity'
                       ELSE timestamptz 'epoch' + $2::bigint * interval '1 microsecond' END,
                       timestamptz 'epoch' + $3::bigint * interval '1 microsecond')
               AS part (first, before)
        OFFSET 0) AS found
