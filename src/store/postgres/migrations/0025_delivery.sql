-- 0025_delivery: deliveries of outbox events that failed, and events that were given up.
-- locks: workflow_outbox while it is read once, under a second for a million events
--
-- No row is rewritten.  The index has no entry yet: making it reads the table once.

ALTER TABLE workflow.workflow_outbox
    ADD COLUMN attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN last_error text,
    ADD COLUMN dead_at timestamptz;

CREATE INDEX idx_workflow_outbox_dead ON workflow.workflow_outbox (id) WHERE dead_at IS NOT NULL;
