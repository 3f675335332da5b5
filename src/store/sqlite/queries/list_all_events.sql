-- list_all_events: the audit trail of all instances and jobs, oldest first.
--
--   :after  events later than the one with this id
--   :room   how many at most
--
-- With a single writer ids become visible in their order.

SELECT id, workflow_id, event_type, step, data, created_at
  FROM workflow_event
 WHERE id > :after
 ORDER BY id
 LIMIT :room;
