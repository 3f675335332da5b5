-- 0029_passed: what goes on from a step whose file makes its data by expressions.

ALTER TABLE workflow_step ADD COLUMN passed TEXT;
