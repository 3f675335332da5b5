-- find_known_job: why insert_job refused.
--
--   :id, :key  of the job that was not inserted
--
-- One row: the id of the job that is there already.  The same id comes before the same key.

SELECT id FROM workflow_run WHERE id = :id
UNION ALL
SELECT id FROM workflow_run WHERE idempotency_key = :key
LIMIT 1;
