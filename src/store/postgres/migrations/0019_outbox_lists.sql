-- 0019_outbox_lists: the outbound events of one instance are listed, delivered or not.
-- locks: workflow_outbox, writers only, while an index is built

CREATE INDEX IF NOT EXISTS idx_workflow_outbox_list ON workflow.workflow_outbox (instance_id, id);
