-- 0044_rerun_made: the step that a rerun begins at may be given its input.
-- oldest: 0036
-- locks: workflow_instance for a moment

ALTER TABLE workflow.workflow_instance ADD COLUMN rerun_made jsonb;
