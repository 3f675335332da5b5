-- list_ready_types: which types of steps can be claimed, by version and priority, and since when.
--
--   $1  how many at most
--
-- Rows (type, version, next_run_at, instance_id), of the step of each that waits longest.  One probe
-- of idx_workflow_step_ready each.

WITH RECURSIVE walk (type, version, priority, since, instance_id) AS (
    (SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_id
       FROM workflow.workflow_step AS s
      WHERE s.is_ready
      ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST
      LIMIT 1)
    UNION ALL
    SELECT next.*
      FROM walk
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_id
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND (s.task_type, s.version, s.priority) > (walk.type, walk.version, walk.priority)
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST
            LIMIT 1) AS next
)
SELECT walk.type, walk.version, walk.since, walk.instance_id::text
  FROM walk
 LIMIT $1::bigint
