-- 0007_answers: what a sender was told.
-- locks: workflow_signal for a moment

-- Whether the sender of a signal was told that it was taken: a repeated id is answered the same.
-- NULL: written by an earlier version.
ALTER TABLE workflow.workflow_signal ADD COLUMN was_taken boolean;
