-- 0008_metadata: an object that goes with a job or an instance to the handlers.
-- locks: workflow_run, workflow_instance and workflow_step for a moment
--
-- Nothing here reads or rewrites a table that is there: a row from before has none.

ALTER TABLE workflow.workflow_run
    ADD COLUMN metadata jsonb,
    ADD CONSTRAINT workflow_run_metadata_check
        CHECK (jsonb_typeof(metadata) = 'object') NOT VALID;

ALTER TABLE workflow.workflow_instance ADD COLUMN metadata jsonb;

-- A claim reads steps alone.
ALTER TABLE workflow.workflow_step ADD COLUMN instance_metadata jsonb;
