-- promote_jobs: makes jobs claimable whose time has come, the earliest first.
--
--   :now    microseconds since 1970
--   :limit  how many at most
--
-- sqlite3_changes() says how many.  Walks idx_workflow_run_scheduled.

UPDATE workflow_run
   SET is_ready = 1
 WHERE seq IN (SELECT seq
                 FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                  AND run_at <= :now
                ORDER BY run_at, seq
                LIMIT :limit);
