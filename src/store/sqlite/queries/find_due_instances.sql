-- find_due_instances: pending instances whose time has come, the earliest first.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- Walks idx_workflow_instance_start.

SELECT id
  FROM workflow_instance INDEXED BY idx_workflow_instance_start
 WHERE status = 'pending'
   AND start_at <= :now
 ORDER BY start_at, seq
 LIMIT :room;
