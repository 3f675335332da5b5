-- find_claimed: the jobs that one claim holds, in its order, whole.
--
--   :worker, :token  of the claim
--   :room            how many at most
--
-- Walks idx_workflow_run_leased, which is as long as there are leases.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_token = :token
   AND leased_by = :worker
 ORDER BY priority, seq
 LIMIT :room;
