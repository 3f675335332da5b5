-- 0008_metadata: an object that goes with a job or an instance to the handlers.

ALTER TABLE workflow_run ADD COLUMN metadata TEXT CHECK (json_type(metadata) = 'object');
ALTER TABLE workflow_instance ADD COLUMN metadata TEXT;

-- A claim reads steps alone.
ALTER TABLE workflow_step ADD COLUMN instance_metadata TEXT;
