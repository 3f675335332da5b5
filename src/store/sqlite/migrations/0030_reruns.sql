-- 0030_reruns: instances that run another one again, from a step on.

ALTER TABLE workflow_instance ADD COLUMN source TEXT;
ALTER TABLE workflow_instance ADD COLUMN rerun_from INTEGER;
ALTER TABLE workflow_instance ADD COLUMN rerun_signal TEXT;
ALTER TABLE workflow_instance ADD COLUMN rerun_input TEXT;
ALTER TABLE workflow_step ADD COLUMN is_copied INTEGER NOT NULL DEFAULT 0;
