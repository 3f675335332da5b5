-- next_flow_due: when the next timer of a workflow is due.
--
-- One row: an instant, or NULL for never.  One probe of each index of timers.

SELECT min(due)
  FROM (SELECT (SELECT due_at
                  FROM workflow_step INDEXED BY idx_workflow_step_leased
                 WHERE locked_by IS NOT NULL AND due_at IS NOT NULL
                 ORDER BY due_at
                 LIMIT 1) AS due
        UNION ALL
        SELECT (SELECT due_at
                  FROM workflow_step INDEXED BY idx_workflow_step_scheduled
                 WHERE due_at IS NOT NULL AND locked_by IS NULL AND is_held = 0
                   AND status IN ('ready', 'compensation')
                 ORDER BY due_at
                 LIMIT 1)
        UNION ALL
        SELECT (SELECT due_at
                  FROM workflow_step INDEXED BY idx_workflow_step_timer
                 WHERE due_at IS NOT NULL AND locked_by IS NULL
                   AND (is_held = 1 OR status NOT IN ('ready', 'compensation'))
                 ORDER BY due_at
                 LIMIT 1)
        UNION ALL
        SELECT (SELECT start_at
                  FROM workflow_instance INDEXED BY idx_workflow_instance_start
                 WHERE status = 'pending' AND start_at IS NOT NULL
                 ORDER BY start_at
                 LIMIT 1));
