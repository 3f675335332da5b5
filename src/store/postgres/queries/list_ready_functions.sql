-- list_ready_functions: functions that can be claimed, by name and version, and since when the
-- longest waiting one can.
--
--   $1  how many at most
--
-- Rows (name, version, next_run_at).  One probe of idx_workflow_step_ready for each pair of type and
-- version; all functions have the same priority, so the first entry is the oldest.

WITH RECURSIVE walk (type, version, since) AS (
    (SELECT s.task_type, s.version, s.next_run_at
       FROM workflow.workflow_step AS s
      WHERE s.is_ready
      ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST
      LIMIT 1)
    UNION ALL
    SELECT next.task_type, next.version, next.next_run_at
      FROM walk
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.next_run_at
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND (s.task_type, s.version) > (walk.type, walk.version)
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST
            LIMIT 1) AS next
)
SELECT walk.type, walk.version, walk.since
  FROM walk
 WHERE walk.version > 0
 LIMIT $1::bigint
