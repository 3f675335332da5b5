-- list_few_pending_jobs: as list_jobs, of status pending, when there are few of them.
--
-- Sorts both indexes of what is pending.  With a long backlog list_jobs is faster, since it
-- finds pending jobs wherever it looks; after it, it would walk past everything that is done.

SELECT seq, id, type, status, priority, is_ready, run_at, attempt, max_attempts, leased_by,
       lease_until, lease_token, ended_by, ended_token, ended_outcome, last_error,
       idempotency_key, created_at, updated_at, deleted_at, payload, result
  FROM workflow_run
 WHERE seq IN (SELECT seq
                 FROM workflow_run INDEXED BY idx_workflow_run_claim
                WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
                  AND seq < :before
                  AND type >= :from AND type < :below
                UNION ALL
               SELECT seq
                 FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                  AND seq < :before
                  AND type >= :from AND type < :below
                ORDER BY seq DESC
                LIMIT :room)
 ORDER BY seq DESC;
