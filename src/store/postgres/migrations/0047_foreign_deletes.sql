-- 0047_foreign_deletes: a run that plain SQL deletes has ended.
-- oldest: 0036
-- locks: a moment
--
-- DELETE /v1/jobs/{id} cancels what has not ended, writes an event and hides the row.  Whoever sets deleted_at himself
-- gets the same: the row is cancelled before it is written, so that all that follows from a cancel follows from this.

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
    IF NEW.deleted_at IS NOT NULL AND NEW.status IN ('pending', 'leased') THEN
        IF OLD.status NOT IN ('pending', 'leased') THEN
            RAISE object_not_in_prerequisite_state USING
                MESSAGE = format('workflow run %s is deleted and cannot become %s', OLD.id, NEW.status),
                DETAIL = 'Nobody is given a run that is deleted.',
                HINT = 'To have it done again, set deleted_at to NULL and status to pending.';
        END IF;
        NEW.status := 'cancelled';
    END IF;
    IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL AND NEW.updated_at = OLD.updated_at THEN
        NEW.updated_at := now();
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

-- As in 0011, and a row that had ended and is hidden now says so: nothing else tells.
DROP FUNCTION workflow.run_event(text, text, boolean);

CREATE FUNCTION workflow.run_event(old_status text, new_status text, is_other_worker boolean, is_hidden boolean)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE
        WHEN new_status <> old_status AND new_status = 'pending' THEN 'retried'
        WHEN new_status <> old_status THEN new_status
        WHEN new_status = 'leased' AND is_other_worker THEN 'leased'
        WHEN is_hidden THEN 'deleted'
    END
$body$;

CREATE OR REPLACE FUNCTION workflow.run_number_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    added integer := 0;
BEGIN
    IF TG_OP = 'INSERT' THEN
        added := CASE WHEN NEW.status = 'pending' THEN 1 ELSE 2 END;
        NEW.event_count := added;
    ELSE
        IF workflow.run_event(OLD.status, NEW.status, NEW.leased_by IS DISTINCT FROM OLD.leased_by,
                              NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL) IS NOT NULL THEN
            added := 1;
        END IF;
        NEW.event_count := OLD.event_count + added;
        NEW.last_event := OLD.last_event;
    END IF;
    IF added > 0 THEN
        NEW.last_event := (workflow.take_log() << 12) + added - 1;
    END IF;
    RETURN NEW;
END
$body$;

CREATE OR REPLACE FUNCTION workflow.run_after_foreign_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    event text;
    facts jsonb;
BEGIN
    IF TG_OP = 'INSERT' THEN
        event := nullif(NEW.status, 'pending');
    ELSE
        event := workflow.run_event(OLD.status, NEW.status, NEW.leased_by IS DISTINCT FROM OLD.leased_by,
                                    NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL);
    END IF;
    -- attempt is the number of the call, from 1, as in the engine's own events.
    facts := jsonb_strip_nulls(CASE event
        WHEN 'leased' THEN
            jsonb_build_object('worker', NEW.leased_by, 'attempt', NEW.attempt + 1)
        WHEN 'succeeded' THEN
            jsonb_build_object('worker', NEW.leased_by, 'attempt', NEW.attempt + 1)
        WHEN 'failed' THEN
            jsonb_build_object('attempt', NEW.attempt, 'error', NEW.last_error)
        WHEN 'retried' THEN
            jsonb_build_object('attempt', NEW.attempt, 'error', NEW.last_error,
                               'run_at', NEW.run_at)
        ELSE '{}'
    END);
    IF TG_OP = 'INSERT' AND event IS NOT NULL THEN
        INSERT INTO workflow.workflow_event_log (id, at, ids, prev, kinds, types, data)
        VALUES (NEW.last_event >> 12, now(), uuid_send(NEW.id) || uuid_send(NEW.id),
                int8send(0) || int8send(NEW.last_event - 1), '\x00000001',
                ARRAY['created', event], ARRAY['{}', facts]);
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO workflow.workflow_event_log (id, at, ids, types, data)
        VALUES (NEW.last_event >> 12, now(), uuid_send(NEW.id), ARRAY['created'], ARRAY[facts]);
    ELSIF event IS NOT NULL THEN
        INSERT INTO workflow.workflow_event_log (id, at, ids, prev, types, data)
        VALUES (NEW.last_event >> 12, now(), uuid_send(NEW.id), int8send(OLD.last_event), ARRAY[event],
                ARRAY[facts]);
        IF NEW.event_count % 100 = 0 THEN
            INSERT INTO workflow.workflow_event_post VALUES (NEW.id, NEW.last_event);
        END IF;
    END IF;

    -- New work, now or later; or a lease whose end somebody has to watch.
    IF NEW.status = 'pending' OR event = 'leased' THEN
        PERFORM pg_notify('cairn', '');
    END IF;
    RETURN NULL;
END
$body$;
