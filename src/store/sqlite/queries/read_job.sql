-- read_job: a job, whole, by its place in the order.
--
--   :seq  which
--
-- One row or none.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run
 WHERE seq = :seq;
