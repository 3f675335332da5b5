-- lock_job: a job for change, without payload and result.
--
--   :id  which
--
-- One row or none.  BEGIN IMMEDIATE has locked it already.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at
  FROM workflow_run
 WHERE id = :id;
