-- 0006_function_versions: which code may go on with a function.
-- locks: workflow_step while steps of functions are rewritten and an index is built
--
-- A function's first row, the one that is claimed, carries its instance's version; all others 0.
-- The claim index has it behind the type, so that a claim passes by what it has no code for.

ALTER TABLE workflow.workflow_step
    ADD COLUMN version integer NOT NULL DEFAULT 0;

UPDATE workflow.workflow_step AS step
   SET version = instance.version
  FROM workflow.workflow_instance AS instance
 WHERE instance.is_function
   AND step.instance_id = instance.id
   AND step.seq = 0;

DROP INDEX workflow.idx_workflow_step_ready;
CREATE INDEX idx_workflow_step_ready ON workflow.workflow_step
    (task_type, version, priority, next_run_at NULLS FIRST, instance_seq, seq)
    WHERE is_ready;
