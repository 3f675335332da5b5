-- 0005_effects: what a step's key names, how a lease was ended, and why an undo failed.
-- locks: workflow_run, workflow_instance and workflow_step for a moment
--
-- Nothing here reads or rewrites a table that is there: the defaults stand in the catalogue.

ALTER TABLE workflow.workflow_run
    ADD COLUMN ended_outcome text;      -- the report that ended the latest lease

ALTER TABLE workflow.workflow_instance
    ADD COLUMN undo_error jsonb;        -- as last_error, of the latest compensation that failed

ALTER TABLE workflow.workflow_step
    ADD COLUMN ended_outcome    text,
    -- Effects that were undone or left behind by a restart: the number in the step's key counts
    -- them.  is_effect_begun: it was called for the present one before the latest retry.
    ADD COLUMN past_effects     integer NOT NULL DEFAULT 0,
    ADD COLUMN is_effect_begun  boolean NOT NULL DEFAULT false,
    ADD COLUMN function_effects text,   -- of a function: those steps for which it is another number
    ADD COLUMN undo_error       text;   -- why its compensation failed; error keeps the step's own
