-- 0028_outbox_claims: a claim of the outbox reads what it takes, however many events wait.
-- locks: workflow_outbox, writers only, while two indexes of events that wait are built

-- What nobody has, in order; and what somebody has, or what waits behind it, by the time to look again.
CREATE INDEX idx_workflow_outbox_fresh ON workflow.workflow_outbox (id)
    WHERE acked_at IS NULL AND claimed_until IS NULL;
CREATE INDEX idx_workflow_outbox_due ON workflow.workflow_outbox (claimed_until)
    WHERE acked_at IS NULL AND claimed_until IS NOT NULL;
