-- 0014_lists: lists of one workflow and status walk an index.
-- locks: workflow_instance and workflow_run, writers only, while an index of each is built
--
-- Building an index waits for no reader, but holds up writers for as long as it takes: a second or two
-- for a million rows.  The index that is no longer used goes in a migration of its own, because that needs a
-- lock that excludes everybody, if only for a moment.

CREATE INDEX idx_workflow_instance_workflow_status
    ON workflow.workflow_instance (workflow, status, seq);

-- Jobs that did not succeed, which are few.
CREATE INDEX idx_workflow_run_unsuccessful ON workflow.workflow_run (status, seq)
    WHERE status IN ('failed', 'cancelled');
