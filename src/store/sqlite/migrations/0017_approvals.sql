-- 0017_approvals: what waits for a decision is listed by its deadline.

-- The rowid behind it is the order of instances, and of places within one.
CREATE INDEX idx_workflow_step_undecided ON workflow_step (deadline_at)
 WHERE status = 'waiting_decision';
