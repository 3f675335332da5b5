-- list_logs: what an instance has logged, oldest first.
--
--   $1  instance
--   $2  only rows after this id
--   $3  how many at most

SELECT l.id, l.instance_id::text, l.level, l.message, l.data::text, l.step, l.attempt, l.at
  FROM workflow.workflow_log AS l
 WHERE l.instance_id = $1::uuid
   AND l.id > $2::bigint
 ORDER BY l.id
 LIMIT $3::bigint
