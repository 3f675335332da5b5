-- count_jobs: how much waits and runs.
--
--   :now  microseconds since 1970
--
-- One row: pending, ready, leased, the earliest run_at among the ready (NULL: none).  Reads
-- indexes alone.

SELECT waiting.pending + (SELECT count(*)
                            FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                           WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL),
       waiting.ready,
       (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'),
       waiting.oldest
  FROM (SELECT count(*) AS pending,
               count(*) FILTER (WHERE run_at <= :now) AS ready,
               min(run_at) FILTER (WHERE run_at <= :now) AS oldest
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL) AS waiting;
