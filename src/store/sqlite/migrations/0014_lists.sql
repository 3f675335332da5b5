-- 0014_lists: lists of one workflow and status walk an index.

-- For lists; the rowid behind it is the order.
DROP INDEX idx_workflow_instance_workflow;
CREATE INDEX idx_workflow_instance_workflow ON workflow_instance (workflow, status);
