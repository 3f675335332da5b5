-- 0019_outbox_lists: the outbound events of one instance are listed, delivered or not.
-- locks: none; an index of workflow_outbox is built before, while work goes on

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_outbox_list ON workflow.workflow_outbox (instance_id, id);
