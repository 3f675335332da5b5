-- insert_signal: a new signal; one that is known by its id stays.
--
--   $1..$6  instance, id, event, payload, received_at, taken_by (NULL: not taken)
--
-- Its seq; none if it was known.

INSERT INTO workflow.workflow_signal (instance_id, id, event, payload, received_at, taken_by,
                                      was_taken)
VALUES ($1::uuid, $2::text, $3::text, $4::jsonb, $5::timestamptz, $6::int, false)
ON CONFLICT DO NOTHING
RETURNING seq
