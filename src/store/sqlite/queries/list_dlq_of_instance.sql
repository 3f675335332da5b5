-- list_dlq_of_instance: as list_dlq, of one instance.
--
--   :instance_id  whose
--
-- Walks idx_workflow_dlq_instance backwards.

SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_instance
 WHERE is_open = 1
   AND instance_id = :instance_id
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;
