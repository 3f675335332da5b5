-- 0024_job_limits: how long a call of a job may take, and when a failed one is made again.

-- No row has a value yet: the checks need not be evaluated for each, which takes long.
PRAGMA ignore_check_constraints = ON;
ALTER TABLE workflow_run ADD COLUMN timeout_ms INTEGER
    CHECK (timeout_ms BETWEEN 0 AND 253402300799999);
ALTER TABLE workflow_run ADD COLUMN retry TEXT CHECK (json_type(retry) = 'object');
PRAGMA ignore_check_constraints = OFF;
ALTER TABLE workflow_run ADD COLUMN call_until INTEGER;
