-- ack_outbox: an event has arrived.  A row if there is such an event.
--
--   $1  id
--   $2  now

UPDATE workflow.workflow_outbox AS o
   SET acked_at = coalesce(o.acked_at, $2::timestamptz)
 WHERE o.id = $1::bigint
RETURNING o.id
