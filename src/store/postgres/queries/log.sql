-- name: append_logs
-- doing: write logs
-- What functions have logged, in the order given.
--
--   $1..$6  arrays: instances, levels, messages, data, steps, attempts
--   $7      when
INSERT INTO workflow.workflow_log (instance_id, level, message, data, step, attempt, at)
SELECT given.instance_id, given.level, given.message, given.data, given.step, given.attempt,
       $7::timestamptz
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::text[], $6::int[])
       WITH ORDINALITY
       AS given (instance_id, level, message, data, step, attempt, ordinal)
 ORDER BY given.ordinal


-- name: list_logs
-- What an instance has logged, oldest first.
--
--   $1  instance
--   $2  only rows after this id
--   $3  how many at most
SELECT l.id, l.instance_id::text, l.level, l.message, l.data::text, l.step, l.attempt, l.at
  FROM workflow.workflow_log AS l
 WHERE l.instance_id = $1::uuid
   AND l.id > $2::bigint
 ORDER BY l.id
 LIMIT $3::bigint
