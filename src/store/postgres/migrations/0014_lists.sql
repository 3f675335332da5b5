-- 0014_lists: lists of one workflow and status walk an index.
-- locks: none; an index of workflow_instance and one of workflow_run are built before, while work goes on
--
-- The index that is no longer used goes in a migration of its own, because that needs a lock that excludes
-- everybody, if only for a moment.

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_instance_workflow_status
    ON workflow.workflow_instance (workflow, status, seq);

-- Jobs that did not succeed, which are few.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_run_unsuccessful ON workflow.workflow_run (status, seq)
    WHERE status IN ('failed', 'cancelled');
