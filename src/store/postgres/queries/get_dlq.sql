-- get_dlq: one record, open or not.
--
--   $1  id

SELECT q.id, q.instance_id::text, q.workflow, q.version, q.step_seq, q.step_name, q.step_type,
       q.input::text, q.error, q.reason, q.created_at, q.is_open
  FROM workflow.workflow_dlq AS q
 WHERE q.id = $1::bigint
