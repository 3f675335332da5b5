-- promote_jobs: marks rows ready whose time has come, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest time to look at
--
-- For each type and priority: the lowest (seq >> 8) that is now ready, and how many rows.  Walks idx_workflow_run_scheduled.

WITH due AS MATERIALIZED (
    SELECT r.seq
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
     WHERE r.seq = due.seq
    RETURNING r.type, r.priority, r.seq >> 8 AS key
)
SELECT ready.type, ready.priority, min(ready.key), count(*)
  FROM ready
 GROUP BY ready.type, ready.priority
