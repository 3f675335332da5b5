-- claim_step_heads: steps of one type, version and priority, the longest waiting first.
--
--   :type, :version, :priority  which
--   :room                       how many at most
--
-- Rows (next_run_at, id).  Reads idx_workflow_step_ready alone, from the beginning of the three.

SELECT next_run_at, id
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = :type
   AND version = :version
   AND priority = :priority
 ORDER BY next_run_at, id
 LIMIT :room;
