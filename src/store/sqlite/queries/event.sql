-- name: append_event
-- doing: append events
-- One line of the history.
INSERT INTO workflow_event ({event.insert})
VALUES ({event.values});


-- name: append_events
-- Sixteen lines of the history at once, which costs less than one by one.
--
--   for each: whose, its type, the step (or NULL), data, when
INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at)
VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?),
       (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?), (?, ?, ?, ?, ?);


-- name: list_events
-- The history of one job or instance, oldest first.
--
--   :instance_id  whose
--   :after        events later than the one with this id
--   :room         how many at most
SELECT {event.columns}
  FROM workflow_event
 WHERE workflow_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: list_all_events
-- doing: list events
-- The history of all instances and jobs, oldest first.
--
--   :after  events later than the one with this id
--   :room   how many at most
--
-- With a single writer ids become visible in their order.
SELECT {event.columns}
  FROM workflow_event
 WHERE id > :after
 ORDER BY id
 LIMIT :room;
