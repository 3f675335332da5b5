-- 0034_step_groups: steps, compensations and functions have groups, and limits count them.
-- locks: tables of instances, steps and starts for a moment; two indexes of workflow_step are built before, while work goes on

-- first: columns that the indexes need
ALTER TABLE workflow.workflow_step
    ADD COLUMN IF NOT EXISTS "group" text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS is_counted boolean NOT NULL DEFAULT false;
-- then:

ALTER TABLE workflow.workflow_instance
    ADD COLUMN "group" text COLLATE "C" NOT NULL DEFAULT '',
    ADD CONSTRAINT workflow_instance_group_check CHECK (octet_length("group") <= 128) NOT VALID;
ALTER TABLE workflow.workflow_intake
    DROP CONSTRAINT workflow_intake_group_check,
    ADD CONSTRAINT workflow_intake_group_check CHECK (octet_length("group") <= 128) NOT VALID;
ALTER TABLE workflow.workflow_step
    ADD CONSTRAINT workflow_step_group_check CHECK (octet_length("group") <= 128) NOT VALID;

-- As before, with the group in front of the order within it, as idx_workflow_run_type_prefix has it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_step_ready_next ON workflow.workflow_step
    (task_type, "group", version, priority, next_run_at NULLS FIRST, instance_seq, seq)
    WHERE is_ready;
DROP INDEX workflow.idx_workflow_step_ready;
ALTER INDEX workflow.idx_workflow_step_ready_next RENAME TO idx_workflow_step_ready;

-- The leases that limits count: as few as are leased now.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_step_counted ON workflow.workflow_step (task_type, "group")
    WHERE locked_by IS NOT NULL AND is_counted;
