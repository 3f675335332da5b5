-- append_events: adds to the audit trail, in the order given.
--
--   $1, $2, $3  jobs, event types, data
--   $4          when

INSERT INTO workflow.workflow_event (workflow_id, event_type, data, created_at)
SELECT given.workflow_id, given.event_type, coalesce(given.data, '{}'), $4::timestamptz
  FROM (SELECT unnest($1::uuid[]) AS workflow_id, unnest($2::text[]) AS event_type,
               unnest($3::jsonb[]) AS data) AS given
