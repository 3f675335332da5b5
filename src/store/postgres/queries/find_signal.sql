-- find_signal: the oldest signal of an event that nobody has taken.
--
--   $1, $2  instance, event
--   $3      received at or before this time

SELECT g.seq, g.instance_id::text, g.id, g.event, g.payload::text, g.received_at
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.event = $2::text
   AND g.taken_by IS NULL
   AND g.received_at <= $3::timestamptz
 ORDER BY g.seq
 LIMIT 1
