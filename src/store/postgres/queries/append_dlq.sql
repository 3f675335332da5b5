-- append_dlq: records for a person to look at, in the order given.
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
