-- next_flow_due: when the next timer of a workflow is due; NULL: never.
--
-- One look at the head of each index of timers.

SELECT least((SELECT s.due_at
                FROM workflow.workflow_step AS s
               WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
                 AND s.status IN ('ready', 'compensation')
               ORDER BY s.due_at
               LIMIT 1),
             (SELECT s.due_at
                FROM workflow.workflow_step AS s
               WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
               ORDER BY s.due_at
               LIMIT 1),
             (SELECT s.due_at
                FROM workflow.workflow_step AS s
               WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
                 AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
               ORDER BY s.due_at
               LIMIT 1),
             (SELECT i.start_at
                FROM workflow.workflow_instance AS i
               WHERE i.status = 'pending' AND i.start_at IS NOT NULL
               ORDER BY i.start_at
               LIMIT 1))
