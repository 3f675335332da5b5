-- 0029_passed: what goes on from a step whose file makes its data by expressions.
-- locks: workflow_step for a moment

ALTER TABLE workflow.workflow_step ADD COLUMN passed jsonb;
