-- list_events: the audit trail of one job, oldest first.
--
--   :job_id  whose
--   :after   events later than the one with this id
--   :room    how many at most

SELECT id, workflow_id, event_type, data, created_at
  FROM workflow_event
 WHERE workflow_id = :job_id
   AND id > :after
 ORDER BY id
 LIMIT :room;
