-- 0025_delivery: deliveries of outbox events that failed, and events that were given up.
-- locks: workflow_outbox for a moment; an index of it is built before, while work goes on

-- first: columns, one of which the index needs
ALTER TABLE workflow.workflow_outbox
    ADD COLUMN IF NOT EXISTS attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS last_error text,
    ADD COLUMN IF NOT EXISTS dead_at timestamptz;
-- then:

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_outbox_dead ON workflow.workflow_outbox (id) WHERE dead_at IS NOT NULL;
