-- list_dlq: open records, newest first.
--
--   :before  older than this id
--   :room    how many at most
--
-- Walks idx_workflow_dlq_open backwards.

SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
 WHERE is_open = 1
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;
