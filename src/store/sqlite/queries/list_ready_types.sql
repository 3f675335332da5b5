-- list_ready_types: which types of steps can be claimed, by version and priority, and since when.
--
--   :room  how many at most
--
-- Rows (type, version, next_run_at, instance_id), of the step of each that waits longest.  Leaps
-- through idx_workflow_step_ready from one triple to the next.

WITH RECURSIVE walk (id, type, version, priority, since) AS (
    SELECT id, task_type, version, priority, next_run_at
      FROM workflow_step
     WHERE id = (SELECT id
                   FROM workflow_step INDEXED BY idx_workflow_step_ready
                  WHERE is_ready = 1
                  ORDER BY task_type, version, priority, next_run_at
                  LIMIT 1)
    UNION ALL
    SELECT next.id, next.task_type, next.version, next.priority, next.next_run_at
      FROM walk
      JOIN workflow_step AS next
        ON next.id = (SELECT later.id
                        FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                       WHERE later.is_ready = 1
                         AND (later.task_type, later.version, later.priority)
                             >= (walk.type, walk.version, walk.priority + 1)
                       ORDER BY later.task_type, later.version, later.priority,
                                later.next_run_at
                       LIMIT 1)
)
SELECT type, version, since,
       (SELECT instance.id
          FROM workflow_instance AS instance
         WHERE instance.seq = walk.id >> 20)
  FROM walk
 LIMIT :room;
