-- append_events: adds to the audit trail, in the order given.
--
--   $1, $2, $3  jobs, event types, data
--   $4          when

INSERT INTO workflow.workflow_event (workflow_id, event_type, data, created_at)
SELECT given.workflow_id, given.event_type, coalesce(given.data, '{}'), $4::timestamptz
  FROM unnest($1::uuid[], $2::text[], $3::jsonb[]) WITH ORDINALITY
       AS given (workflow_id, event_type, data, ordinal)
 ORDER BY given.ordinal
