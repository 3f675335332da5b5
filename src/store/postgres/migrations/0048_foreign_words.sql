-- 0048_foreign_words: plain SQL writes the words that are known.
-- oldest: 0036
-- locks: a moment
--
-- Events of jobs have eight words for strangers; the engine has more, and is not asked.  A runtime is a name of its own
-- kind: any may come, but each is written in one way.  Entries from before stay.

CREATE OR REPLACE FUNCTION workflow.event_before_foreign_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF NOT EXISTS (SELECT FROM workflow.workflow_run WHERE id = NEW.workflow_id)
       AND NOT EXISTS (SELECT FROM workflow.workflow_instance WHERE id = NEW.workflow_id) THEN
        RAISE foreign_key_violation
            USING MESSAGE = format('workflow run %s does not exist', NEW.workflow_id);
    END IF;
    IF NEW.event_type NOT IN ('created', 'leased', 'started', 'heartbeat', 'succeeded', 'failed', 'retried',
                              'cancelled') THEN
        RAISE check_violation USING
            MESSAGE = format('"%s" is no type of an event', NEW.event_type),
            HINT = 'created, leased, started, heartbeat, succeeded, failed, retried or cancelled',
            COLUMN = 'event_type', TABLE = 'workflow_event', SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NEW;
END
$body$;

ALTER TABLE workflow.workflow_registry
    ADD CONSTRAINT workflow_registry_runtime_check
        CHECK (runtime COLLATE "C" ~ '^[a-z][a-z0-9_.-]{0,63}$') NOT VALID;
