-- append_outbox: events for others, in the order given.
--
--   $1..$5  arrays: instance, step, event, payload, created_at

INSERT INTO workflow.workflow_outbox (instance_id, step, event, payload, created_at)
SELECT given.instance_id, given.step, given.event, given.payload, given.created_at
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::timestamptz[])
       WITH ORDINALITY AS given (instance_id, step, event, payload, created_at, ordinal)
 ORDER BY given.ordinal
