-- promote_steps: makes claimable what is due, the earliest first.
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
