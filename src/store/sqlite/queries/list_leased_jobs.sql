-- list_leased_jobs: as list_jobs, of status leased.
--
-- Sorts idx_workflow_run_leased, which is as long as there are leases.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run
 WHERE seq IN (SELECT seq
                 FROM workflow_run INDEXED BY idx_workflow_run_leased
                WHERE status = 'leased'
                  AND seq < :before
                  AND deleted_at IS NULL
                  AND type >= :from AND type < :below
                ORDER BY seq DESC
                LIMIT :room)
 ORDER BY seq DESC;
