-- list_dlq_of_instance: the open records of one instance, newest first.
--
--   $1  only records before this id
--   $2  how many at most
--   $3  instance

SELECT q.id, q.instance_id::text, q.workflow, q.version, q.step_seq, q.step_name, q.step_type,
       q.input::text, q.error, q.reason, q.created_at, q.is_open
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.instance_id = $3::uuid
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint
