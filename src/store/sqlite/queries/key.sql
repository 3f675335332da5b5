-- name: find_job_key
-- doing: find the owner of a key
-- Who has the key of a job.
--
--   :workflow, :key  which
--
-- One row or none: id, and when the owner ended if it was purged.
SELECT id, NULL AS ended_at FROM workflow_run WHERE idempotency_key = :key AND :workflow = ''
UNION ALL
SELECT id, ended_at FROM workflow_key WHERE kind = 'job' AND workflow = :workflow AND key = :key
LIMIT 1;


-- name: find_instance_key
-- doing: find the owner of a key
-- Who has the key of an instance of a workflow; as find_job_key.
SELECT id, NULL AS ended_at FROM workflow_instance WHERE key = :key AND workflow = :workflow
UNION ALL
SELECT id, ended_at FROM workflow_key WHERE kind = 'instance' AND workflow = :workflow AND key = :key
LIMIT 1;


-- name: free_job_key
-- doing: free a key
UPDATE workflow_run
   SET idempotency_key = NULL
 WHERE idempotency_key = :key;


-- name: free_instance_key
-- doing: free a key
UPDATE workflow_instance
   SET key = NULL
 WHERE key = :key
   AND workflow = :workflow;


-- name: drop_key
-- doing: forget a key
DELETE FROM workflow_key
 WHERE kind = :kind
   AND workflow = :workflow
   AND key = :key;
