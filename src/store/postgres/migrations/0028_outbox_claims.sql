-- 0028_outbox_claims: a claim of the outbox reads what it takes, however many events wait.
-- locks: none; two indexes of workflow_outbox are built before, while work goes on

-- What nobody has, in order; and what somebody has, or what waits behind it, by the time to look again.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_outbox_fresh ON workflow.workflow_outbox (id)
    WHERE acked_at IS NULL AND claimed_until IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_outbox_due ON workflow.workflow_outbox (claimed_until)
    WHERE acked_at IS NULL AND claimed_until IS NOT NULL;
