-- 0025_delivery: deliveries of outbox events that failed, and events that were given up.

ALTER TABLE workflow_outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_outbox ADD COLUMN last_error TEXT;
ALTER TABLE workflow_outbox ADD COLUMN dead_at INTEGER;

CREATE INDEX idx_workflow_outbox_dead ON workflow_outbox (id) WHERE dead_at IS NOT NULL;
