-- 0005_effects: what a step's key names, how a lease was ended, and why an undo failed.

-- The report that ended the latest lease.
ALTER TABLE workflow_run ADD COLUMN ended_outcome TEXT;

-- As last_error, of the latest compensation that failed.
ALTER TABLE workflow_instance ADD COLUMN undo_error TEXT;

ALTER TABLE workflow_step ADD COLUMN ended_outcome TEXT;

-- Effects that were undone or left behind by a restart: the number in the step's key counts them.
-- is_effect_begun: it was called for the present one before the latest retry.
ALTER TABLE workflow_step ADD COLUMN past_effects INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_step ADD COLUMN is_effect_begun INTEGER NOT NULL DEFAULT 0
      CHECK (is_effect_begun IN (0, 1));

-- Of a function: those steps for which it is another number.
ALTER TABLE workflow_step ADD COLUMN function_effects TEXT;

-- Why its compensation failed; error keeps the step's own.
ALTER TABLE workflow_step ADD COLUMN undo_error TEXT;
