-- get_dlq: one record, open or not.
--
--   :id  which

SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq
 WHERE id = :id;
