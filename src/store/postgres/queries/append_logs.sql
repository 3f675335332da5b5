-- append_logs: what functions have logged, in the order given.
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
