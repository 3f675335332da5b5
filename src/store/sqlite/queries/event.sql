-- name: append_event
-- One line of the audit trail.
--
--   whose, its type, the step (or NULL), data, when
INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at)
VALUES (?, ?, ?, ?, ?);


-- name: append_events
-- Sixteen lines of the audit trail at once, which costs less than one by one.
--
--   for each: whose, its type, the step (or NULL), data, when
INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at)
VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?);


-- name: list_events
-- The audit trail of one job, oldest first.
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


-- name: list_flow_events
-- The audit trail of one instance, oldest first.
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


-- name: list_all_events
-- The audit trail of all instances and jobs, oldest first.
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
