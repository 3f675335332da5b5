-- 0030_reruns: instances that run another one again, from a step on.
-- locks: workflow_instance, workflow_step for a moment
--
-- Nothing here reads or rewrites a table that is there: the default of a new column stands in the catalogue.

ALTER TABLE workflow.workflow_instance
    ADD COLUMN source uuid,
    ADD COLUMN rerun_from integer,
    ADD COLUMN rerun_signal jsonb,
    ADD COLUMN rerun_input jsonb;
ALTER TABLE workflow.workflow_step ADD COLUMN is_copied boolean NOT NULL DEFAULT false;
