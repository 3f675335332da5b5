-- append_flow_events: adds to the audit trail, in the order given.
--
--   $1..$4  arrays: instances, event types, steps, data
--   $5      when

INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, created_at)
SELECT given.workflow_id, given.event_type, given.step, coalesce(given.data, '{}'),
       $5::timestamptz
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[]) WITH ORDINALITY
       AS given (workflow_id, event_type, step, data, ordinal)
 ORDER BY given.ordinal
