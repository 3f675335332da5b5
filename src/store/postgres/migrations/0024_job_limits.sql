-- 0024_job_limits: how long a call of a job may take, and when a failed one is made again.
-- locks: workflow_run for a moment
--
-- Nothing here reads or rewrites a table that is there: a row from before has no limit, and is retried as before.

ALTER TABLE workflow.workflow_run
    ADD COLUMN timeout_ms bigint,
    ADD COLUMN retry jsonb,
    ADD COLUMN call_until timestamptz,
    ADD CONSTRAINT workflow_run_timeout_ms_check
        CHECK (timeout_ms BETWEEN 0 AND 253402300799999) NOT VALID,
    -- What the engine reads of it: CASE, since the order of AND is not promised.
    ADD CONSTRAINT workflow_run_retry_check
        CHECK (CASE WHEN retry IS NULL THEN true
                    WHEN jsonb_typeof(retry) <> 'object'
                      OR retry - '{backoff,base_ms,max_ms,jitter}'::text[] <> '{}' THEN false
                    ELSE coalesce(retry ->> 'backoff', 'fixed') IN ('fixed', 'linear', 'exponential', 'quadratic')
                     AND coalesce(retry @? '$.base_ms ? (@.type() == "number" && @ >= 0 && @ == @.floor() && @ <= 253402300799999)', false)
                         = (retry ? 'base_ms')
                     AND coalesce(retry @? '$.max_ms ? (@.type() == "number" && @ >= 0 && @ == @.floor() && @ <= 253402300799999)', false)
                         = (retry ? 'max_ms')
                     AND coalesce(retry @? '$.jitter ? (@.type() == "number" && @ >= 0 && @ <= 1)', false)
                         = (retry ? 'jitter')
               END) NOT VALID;
