-- list_all_events: what happened, oldest first.
--
--   $1  only events after this id
--   $2  and up to this one, which settled_event brought
--   $3  how many at most

SELECT e.id, e.workflow_id::text, e.event_type, e.step, e.data::text, e.created_at
  FROM workflow.workflow_event AS e
 WHERE e.id > $1::bigint
   AND e.id <= $2::bigint
 ORDER BY e.id
 LIMIT $3::bigint
