-- 0007_answers: what a sender was told, and the order of acknowledgements.

-- Whether the sender of a signal was told that it was taken: a repeated id is answered the same.
-- NULL: written by an earlier version.
ALTER TABLE workflow_signal ADD COLUMN was_taken INTEGER CHECK (was_taken IN (0, 1));

-- All events of an instance that are not acknowledged, claimed or not: the oldest comes first.
DROP INDEX idx_workflow_outbox_claimed;
CREATE INDEX idx_workflow_outbox_instance ON workflow_outbox (instance_id)
 WHERE acknowledged_at IS NULL;
