-- claim_step_heads: steps of one type and priority, the longest waiting first.
--
--   :type, :priority  which
--   :room             how many at most
--
-- Rows (next_run_at, id).  Reads idx_workflow_step_ready alone, from the pair's beginning.

SELECT next_run_at, id
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = :type
   AND priority = :priority
 ORDER BY next_run_at, id
 LIMIT :room;
