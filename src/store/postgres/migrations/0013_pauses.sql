-- 0013_pauses: who has paused an instance, why and when; NULL unless it is paused.
-- locks: workflow_instance for a moment

ALTER TABLE workflow.workflow_instance ADD COLUMN paused_by text;
ALTER TABLE workflow.workflow_instance ADD COLUMN paused_reason text;
ALTER TABLE workflow.workflow_instance ADD COLUMN paused_at timestamptz;
