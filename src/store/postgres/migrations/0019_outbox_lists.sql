-- 0019_outbox_lists: the outbound events of one instance are listed, delivered or not.

CREATE INDEX IF NOT EXISTS idx_workflow_outbox_list ON workflow.workflow_outbox (instance_id, id);
