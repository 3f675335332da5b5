-- append_alike_events: adds to the audit trail, in the order given, events of which many say the
-- same: their data are sent, and read, once.
--
--   $1..$3  arrays: instances, event types, steps
--   $4      array: which of the data, from 1
--   $5      array: the data; few, since one is reached by way of those before it
--   $6      when

INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, created_at)
SELECT given.workflow_id, given.event_type, given.step, ($5::jsonb[])[given.datum],
       $6::timestamptz
  FROM (SELECT unnest($1::uuid[]) AS workflow_id, unnest($2::text[]) AS event_type,
               unnest($3::text[]) AS step, unnest($4::int[]) AS datum) AS given
