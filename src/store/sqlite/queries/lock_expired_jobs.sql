-- lock_expired_jobs: leased jobs whose lease has run out, the earliest first.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- A lease without an end, which only a hand can have written, has run out.  Jobs without payload and
-- result.  Walks idx_workflow_run_leased.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_until IS NULL
UNION ALL
SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_until < :now
 ORDER BY lease_until, seq
 LIMIT :room;
