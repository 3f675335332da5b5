-- 0006_function_versions: which code may go on with a function.
--
-- A function's first row, the one that is claimed, carries its instance's version; all others 0.
-- The claim index has it behind the type, so that a claim passes by what it has no code for.

ALTER TABLE workflow_step ADD COLUMN version INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0);

UPDATE workflow_step
   SET version = (SELECT instance.version
                    FROM workflow_instance AS instance
                   WHERE instance.seq = workflow_step.id >> 20)
 WHERE id IN (SELECT seq << 20 FROM workflow_instance WHERE is_function = 1);

DROP INDEX idx_workflow_step_ready;
CREATE INDEX idx_workflow_step_ready
    ON workflow_step (is_ready, task_type, version, priority, next_run_at)
 WHERE is_ready = 1;
