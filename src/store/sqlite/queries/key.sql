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


-- name: is_job_key_kept
-- doing: find a key
-- A row if the owner of a job's key was purged, and the key is kept.
SELECT 1
  FROM workflow_key
 WHERE kind = 'job' AND workflow = '' AND key = :idempotency_key;


-- name: is_instance_key_kept
-- doing: find a key
-- The same of an instance's key.
SELECT 1
  FROM workflow_key
 WHERE kind = 'instance' AND workflow = :workflow AND key = :key;


-- name: add_tags
-- doing: index tags
-- The tags of a new job or instance.  A trigger may have done it already: see heed_triggers().
--
--   :tags        a JSON object of texts
--   :kind, :seq  whose
INSERT INTO workflow_tag (name, value, kind, seq)
SELECT key, atom, :kind, :seq
  FROM json_each(:tags)
 WHERE true
    ON CONFLICT DO NOTHING;
