-- next_due: when the next timer is due.
--
-- One row: an instant, or NULL for never.  A lease has run out one microsecond after its last,
-- one without an end long ago.  One probe each of idx_workflow_run_scheduled and idx_workflow_run_leased.

SELECT min(due)
  FROM (SELECT (SELECT run_at
                  FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                 WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                 ORDER BY run_at
                 LIMIT 1) AS due
        UNION ALL
        SELECT (SELECT ifnull(lease_until, 0) + 1
                  FROM workflow_run INDEXED BY idx_workflow_run_leased
                 WHERE status = 'leased'
                 ORDER BY lease_until
                 LIMIT 1));
