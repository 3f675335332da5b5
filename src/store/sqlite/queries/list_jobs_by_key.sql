-- list_jobs_by_key: as list_jobs, of one key.
--
--   :key  which

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run
 WHERE idempotency_key = :key
   AND +seq < :before
   AND deleted_at IS NULL
   AND (:status IS NULL OR status = :status)
   AND type >= :from AND type < :below
 LIMIT :room;
