-- close_dlq: the open records of an instance, or of one step, are settled.
--
--   $1  instance
--   $2  the step's place; NULL: all

UPDATE workflow.workflow_dlq AS q
   SET is_open = false
 WHERE q.instance_id = $1::uuid
   AND q.is_open
   AND ($2::int IS NULL OR q.step_seq = $2::int)
