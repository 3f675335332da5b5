-- 0044_rerun_made: the step that a rerun begins at may be given its input.
-- oldest: 0036

ALTER TABLE workflow_instance ADD COLUMN rerun_made TEXT;
