-- 0017_approvals: what waits for a decision is listed by its deadline.
-- locks: none; an index of workflow_step is built before, while work goes on

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_step_undecided
    ON workflow.workflow_step (deadline_at, instance_seq, seq)
    WHERE status = 'waiting_decision';
