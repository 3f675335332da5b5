-- 0013_pauses: who has paused an instance, why and when; NULL unless it is paused.

ALTER TABLE workflow_instance ADD COLUMN paused_by TEXT;
ALTER TABLE workflow_instance ADD COLUMN paused_reason TEXT;
ALTER TABLE workflow_instance ADD COLUMN paused_at INTEGER;
