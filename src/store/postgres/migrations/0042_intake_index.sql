-- 0042_intake_index: a purge finds the starts by plain SQL that found an instance under their key.
-- oldest: 0036
-- locks: none; an index of workflow_intake is built before, while work goes on

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_intake_instance ON workflow.workflow_intake (instance_id)
    WHERE instance_id IS NOT NULL;
