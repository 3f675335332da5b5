-- 0019_outbox_lists: the outbound events of one instance are listed, delivered or not.

CREATE INDEX idx_workflow_outbox_list ON workflow_outbox (instance_id);
