-- list_instances_by_workflow: as list_instances, of one workflow.
--
--   :workflow  which
--
-- Walks idx_workflow_instance_workflow backwards.

SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
 WHERE workflow = :workflow
   AND seq < :before
   AND (:status IS NULL OR status = :status)
 ORDER BY seq DESC
 LIMIT :room;
