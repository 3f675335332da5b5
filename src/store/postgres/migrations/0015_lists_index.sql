-- 0015_lists_index: the index that idx_workflow_instance_workflow_status replaces.

DROP INDEX workflow.idx_workflow_instance_workflow;
