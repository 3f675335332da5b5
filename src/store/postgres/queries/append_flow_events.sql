-- append_flow_events: adds to the audit trail, in the order given.
--
--   $1..$4  arrays: instances, event types, steps, data
--   $5      when

INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, created_at)
SELECT given.workflow_id, given.event_type, given.step, coalesce(given.data, '{}'),
       $5::timestamptz
  FROM (SELECT unnest($1::uuid[]) AS workflow_id, unnest($2::text[]) AS event_type,
               unnest($3::text[]) AS step, unnest($4::jsonb[]) AS data) AS given
