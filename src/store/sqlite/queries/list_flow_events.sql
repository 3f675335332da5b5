-- list_flow_events: the audit trail of one instance, oldest first.
--
--   :instance_id  whose
--   :after        events later than the one with this id
--   :room         how many at most

SELECT id, workflow_id, event_type, step, data, created_at
  FROM workflow_event
 WHERE workflow_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;
