-- 0042_intake_index: a purge finds the starts by plain SQL that found an instance under their key.
-- oldest: 0036

CREATE INDEX idx_workflow_intake_instance ON workflow_intake (instance_id)
 WHERE instance_id IS NOT NULL;
