-- count_few_pending: how many jobs are pending, counted no further than :limit.

SELECT count(*)
  FROM (SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
         UNION ALL
        SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_scheduled
         WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
         LIMIT :limit);
