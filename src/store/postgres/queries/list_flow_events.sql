-- list_flow_events: what happened to an instance or a job, oldest first.
--
--   $1  instance
--   $2  only events after this id
--   $3  how many at most

SELECT e.id, e.workflow_id::text, e.event_type, e.step, e.data::text, e.created_at
  FROM workflow.workflow_event AS e
 WHERE e.workflow_id = $1::uuid
   AND e.id > $2::bigint
 ORDER BY e.id
 LIMIT $3::bigint
