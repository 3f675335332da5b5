-- list_ready_functions: functions that can be claimed, by name and version, and since when the
-- longest waiting one can.
--
--   :room  how many at most
--
-- Rows (name, version, next_run_at).  Leaps through idx_workflow_step_ready from one pair of type
-- and version to the next; all functions have the same priority, so the first entry is the oldest.

WITH RECURSIVE walk (id, type, version, since) AS (
    SELECT id, task_type, version, next_run_at
      FROM workflow_step
     WHERE id = (SELECT id
                   FROM workflow_step INDEXED BY idx_workflow_step_ready
                  WHERE is_ready = 1
                  ORDER BY task_type, version, priority, next_run_at
                  LIMIT 1)
    UNION ALL
    SELECT next.id, next.task_type, next.version, next.next_run_at
      FROM walk
      JOIN workflow_step AS next
        ON next.id = (SELECT later.id
                        FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                       WHERE later.is_ready = 1
                         AND (later.task_type, later.version) >= (walk.type, walk.version + 1)
                       ORDER BY later.task_type, later.version, later.priority,
                                later.next_run_at
                       LIMIT 1)
)
SELECT type, version, since
  FROM walk
 WHERE version > 0
 LIMIT :room;
