-- name: put_workers
-- doing: note workers
-- What a process has seen of workers; those that nobody has seen for long are removed.
--
--   $1  a JSON list
--   $2  those last seen before this time are removed
WITH gone AS (
    DELETE FROM workflow.workflow_worker
     WHERE last_seen < $2::timestamptz
       AND (name, process) NOT IN (SELECT x.name, x.process
                                     FROM jsonb_to_recordset($1::jsonb) AS x (name text, process text))
)
INSERT INTO workflow.workflow_worker AS w
       (name, process, types, runtime, places, first_seen, last_seen)
SELECT x.name, x.process, x.types, x.runtime, x.places,
       'epoch'::timestamptz + x.first_seen * interval '1 microsecond',
       'epoch'::timestamptz + x.last_seen * interval '1 microsecond'
  FROM jsonb_to_recordset($1::jsonb)
       AS x (name text, process text, types jsonb, runtime text, places int, first_seen bigint,
             last_seen bigint)
 ORDER BY x.name, x.process
    ON CONFLICT (name, process) DO UPDATE
   SET types     = excluded.types,
       runtime   = excluded.runtime,
       places    = excluded.places,
       last_seen = excluded.last_seen


-- name: forget_workers
-- doing: forget workers
-- Those of a process.
--
--   $1  which
DELETE FROM workflow.workflow_worker
 WHERE process = $1::text


-- name: list_workers
-- doing: list workers
-- All, in order of name.
--
--   $1  how many at most
SELECT {worker.columns w}
  FROM workflow.workflow_worker AS w
 ORDER BY w.name, w.last_seen DESC
 LIMIT $1::bigint


-- name: list_held_jobs
-- doing: list what a worker holds
-- The jobs that a worker has leased.
--
--   $1  worker
--   $2  how many at most
--
-- Looks at what is leased now.
SELECT {job.columns r}
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
   AND r.status = 'leased'
   AND r.leased_by = $1::text
 ORDER BY r.lease_until
 LIMIT $2::bigint


-- name: list_held_steps
-- doing: list what a worker holds
-- The steps that a worker has leased.
--
--   $1  worker
--   $2  how many at most
--
-- Looks at what is leased now.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
   AND s.locked_by = $1::text
 ORDER BY s.due_at
 LIMIT $2::bigint


-- name: count_ready
-- doing: count tasks
-- How many tasks of each of these types can be claimed.
--
--   $1  types
--   $2  how far to count
--
--   $3  the oldest of so many jobs is looked for; if there are more, among the next ones to be claimed
--
-- Rows in the order of the types: ready jobs, ready steps, since when the oldest of each has been ready.
-- Counts by indexes alone.
SELECT jobs.count, steps.count, least(every.oldest, next.oldest), steps.oldest
  FROM unnest($1::text[]) WITH ORDINALITY AS given (type, place)
 CROSS JOIN LATERAL (
       SELECT count(*) AS count
         FROM (SELECT
                 FROM workflow.workflow_run AS r
                WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
                  AND r.type = given.type
                LIMIT $2::bigint) AS few) AS jobs
 CROSS JOIN LATERAL (
       SELECT min(r.run_at) AS oldest
         FROM workflow.workflow_run AS r
        WHERE jobs.count <= $3::bigint
          AND r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
          AND r.type = given.type) AS every
 CROSS JOIN LATERAL (
       SELECT min(few.run_at) AS oldest
         FROM (SELECT r.run_at
                 FROM workflow.workflow_run AS r
                WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
                  AND r.type = given.type
                ORDER BY r.type USING ~<~, r.is_ready, r."group", r.priority, (r.seq >> 8)
                LIMIT 10) AS few) AS next
 CROSS JOIN LATERAL (
       SELECT count(*) AS count, min(few.next_run_at) AS oldest
         FROM (SELECT s.next_run_at
                 FROM workflow.workflow_step AS s
                WHERE s.is_ready
                  AND s.task_type = given.type
                LIMIT $2::bigint) AS few) AS steps
 ORDER BY given.place


-- name: count_unready
-- doing: count tasks
-- Rows (type, jobs for later, leased jobs, leased steps), in order.  Walks the index of what is for later, reads the
-- jobs that are leased, and walks the index of leased steps.
--
--   $1  how many of each are looked at
--   $2  how many rows at most
SELECT few.type, count(*) FILTER (WHERE few.what = 0), count(*) FILTER (WHERE few.what = 1), count(*) FILTER (WHERE few.what = 2)
  FROM ((SELECT r.type, 0 AS what
           FROM workflow.workflow_run AS r
          WHERE r.status = 'pending' AND NOT r.is_ready AND r.deleted_at IS NULL
          ORDER BY r.run_at
          LIMIT $1::bigint)
         UNION ALL
        (SELECT r.type, 1
           FROM workflow.workflow_run AS r
          WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
            AND r.status = 'leased'
          LIMIT $1::bigint)
         UNION ALL
        (SELECT s.task_type, 2
           FROM workflow.workflow_step AS s
          WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
            AND s.task_type IS NOT NULL
          ORDER BY s.due_at
          LIMIT $1::bigint)) AS few
 GROUP BY few.type
 ORDER BY few.type COLLATE "C"
 LIMIT $2::bigint
