-- 0004_foreign: what writes that are not the engine's may do, and an index for the printed claim.
-- locks: workflow_run while an index is built, a second or two for a million jobs
--
-- The index is built anew, which reads workflow_run once while writers wait.

-- The engine's claim, and the printed one with a prefix.  is_ready is a column of the key and not
-- part of the condition: the printed claim does not know it, so an index with the condition
-- "is_ready" could not serve it.  The engine's claim reads the entries that are ready alone; work for
-- later lies beside them.  Up to 256 rows share a key, as before.
DROP INDEX workflow.idx_workflow_run_type_prefix;
CREATE INDEX idx_workflow_run_type_prefix
    ON workflow.workflow_run (type text_pattern_ops, is_ready, priority, (seq >> 8))
    WHERE status = 'pending' AND deleted_at IS NULL;

-- A lease has an end: without one nobody would ever recover the run.  The trigger below gives one to
-- whoever names none; rows from before it count as run out.  The CHECK is not verified for old rows,
-- since the UPDATE has just done so.
UPDATE workflow.workflow_run SET lease_until = now() WHERE status = 'leased' AND lease_until IS NULL;
ALTER TABLE workflow.workflow_run
    ADD CONSTRAINT workflow_run_lease_check
        CHECK (status <> 'leased' OR lease_until IS NOT NULL) NOT VALID;

-- Which status may follow which, if somebody else writes it.
CREATE FUNCTION workflow.run_may_become(old_status text, new_status text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT old_status = new_status
        OR new_status = 'pending'
        OR old_status = 'pending' AND new_status IN ('leased', 'cancelled')
        OR old_status = 'leased' AND new_status IN ('succeeded', 'failed', 'cancelled')
$body$;

CREATE OR REPLACE FUNCTION workflow.run_before_foreign_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    -- As long as a worker of the engine has by default.
    IF NEW.status = 'leased' AND NEW.lease_until IS NULL THEN
        NEW.lease_until := now() + interval '30 seconds';
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.is_ready := NEW.status = 'pending' AND NEW.run_at <= now();
        NEW.lease_token := NULL;
        RETURN NEW;
    END IF;
    IF NOT workflow.run_may_become(OLD.status, NEW.status) THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = format('workflow run %s is %s and cannot become %s', OLD.id, OLD.status,
                             NEW.status),
            DETAIL = CASE OLD.status
                WHEN 'pending' THEN 'Nobody has claimed the run, so it has no result.'
                ELSE 'The run has ended, and its end is final.' END,
            HINT = CASE OLD.status
                WHEN 'pending' THEN 'Claim it first: set status to leased.'
                ELSE 'To have it done again, set status to pending.' END;
    END IF;
    IF NEW.status <> OLD.status OR NEW.run_at <> OLD.run_at THEN
        NEW.is_ready := NEW.status = 'pending' AND NEW.run_at <= now();
    END IF;
    -- A claim by somebody else, or a lease that has ended: our token must no longer fit.  A
    -- cancelled row keeps its lease, so that its worker can be told.
    IF NEW.status IN ('pending', 'succeeded', 'failed')
       OR NEW.status = 'leased' AND (OLD.status <> 'leased'
                                     OR NEW.leased_by IS DISTINCT FROM OLD.leased_by) THEN
        NEW.lease_token := NULL;
    END IF;
    RETURN NEW;
END
$body$;
