-- 0038_retry_check: what a job's retry may be is said by a function.
-- oldest: 0036
-- locks: workflow_run for a moment
--
-- PostgreSQL reads and prepares the text of every CHECK again in each statement that writes a row, before it knows
-- whether it is needed.  That of 0024 took a fifth of a statement that completes one job.  What is allowed is the same.

CREATE FUNCTION workflow.is_retry(retry jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    -- CASE, since the order of AND is not promised.
    RETURN CASE WHEN jsonb_typeof(retry) <> 'object'
                  OR retry - '{backoff,base_ms,max_ms,jitter}'::text[] <> '{}' THEN false
                ELSE coalesce(retry ->> 'backoff', 'fixed') IN ('fixed', 'linear', 'exponential', 'quadratic')
                 AND coalesce(retry @? '$.base_ms ? (@.type() == "number" && @ >= 0 && @ == @.floor() && @ <= 253402300799999)', false)
                     = (retry ? 'base_ms')
                 AND coalesce(retry @? '$.max_ms ? (@.type() == "number" && @ >= 0 && @ == @.floor() && @ <= 253402300799999)', false)
                     = (retry ? 'max_ms')
                 AND coalesce(retry @? '$.jitter ? (@.type() == "number" && @ >= 0 && @ <= 1)', false)
                     = (retry ? 'jitter')
           END;
END
$body$;

-- Whoever may write jobs may have them checked.
GRANT EXECUTE ON FUNCTION workflow.is_retry(jsonb) TO PUBLIC;

ALTER TABLE workflow.workflow_run
    DROP CONSTRAINT workflow_run_retry_check,
    ADD CONSTRAINT workflow_run_retry_check CHECK (retry IS NULL OR workflow.is_retry(retry)) NOT VALID;
