-- name: append_dlq
-- doing: write DLQ records
-- Records for a person to look at, in the order given.
--
--   $1..$11  arrays: instance, workflow, version, step's place, name and type, input, error,
--            reason, created_at, is_open
INSERT INTO workflow.workflow_dlq
       (instance_id, workflow, version, step_seq, step_name, step_type, input, error, reason,
        created_at, is_open)
SELECT given.instance_id, given.workflow, given.version, given.step_seq, given.step_name,
       given.step_type, given.input, given.error, given.reason, given.created_at, given.is_open
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $5::text[], $6::text[], $7::jsonb[],
              $8::text[], $9::text[], $10::timestamptz[], $11::boolean[]) WITH ORDINALITY
       AS given (instance_id, workflow, version, step_seq, step_name, step_type, input, error,
                 reason, created_at, is_open, ordinal)
 ORDER BY given.ordinal


-- name: close_dlq
-- doing: write DLQ records
-- The open records of an instance, or of one step, are settled.
--
--   $1  instance
--   $2  the step's place; NULL: all
UPDATE workflow.workflow_dlq AS q
   SET is_open = false
 WHERE q.instance_id = $1::uuid
   AND q.is_open
   AND ($2::int IS NULL OR q.step_seq = $2::int)


-- name: get_dlq
-- doing: read a DLQ record
-- One record, open or not.
--
--   $1  id
SELECT q.id, q.instance_id::text, q.workflow, q.version, q.step_seq, q.step_name, q.step_type,
       q.input::text, q.error, q.reason, q.created_at, q.is_open
  FROM workflow.workflow_dlq AS q
 WHERE q.id = $1::bigint


-- name: list_dlq
-- doing: list DLQ records
-- Open records, newest first.
--
--   $1  only records before this id
--   $2  how many at most
SELECT q.id, q.instance_id::text, q.workflow, q.version, q.step_seq, q.step_name, q.step_type,
       q.input::text, q.error, q.reason, q.created_at, q.is_open
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint


-- name: list_dlq_of_instance
-- doing: list DLQ records
-- The open records of one instance, newest first.
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
