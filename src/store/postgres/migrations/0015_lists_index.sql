-- 0015_lists_index: the index that idx_workflow_instance_workflow_status replaces.
-- locks: workflow_instance for a moment

DROP INDEX workflow.idx_workflow_instance_workflow;
