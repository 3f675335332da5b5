-- find_due_instances: instances whose start has come, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest time to look at
--
-- Walks idx_workflow_instance_start.

SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.status = 'pending' AND i.start_at IS NOT NULL
   AND i.start_at >= $3::timestamptz AND i.start_at <= $1::timestamptz
 ORDER BY i.start_at
 LIMIT $2::bigint
