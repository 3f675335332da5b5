-- list_jobs: jobs, newest first, whole.
--
--   :status       NULL: any
--   :from, :below the range of types, as in next_type
--   :before       older than this seq
--   :room         how many at most
--
-- Walks the table backwards until it has enough.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run
 WHERE seq < :before
   AND deleted_at IS NULL
   AND (:status IS NULL OR status = :status)
   AND type >= :from AND type < :below
 ORDER BY seq DESC
 LIMIT :room;
