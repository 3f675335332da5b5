-- 0027_kept_keys: an insert that waits for the purge of its key's owner is told of the key that was kept.
-- locks: workflow_run for a moment
--
-- Such an insert has looked for kept keys before the purge was committed, and goes on when the owner is gone.  So keys
-- are looked for once more, in a statement or a trigger that runs behind the insert and sees what was committed
-- meanwhile.  Nothing here reads a table.

CREATE FUNCTION workflow.refuse_kept_key(key text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    RAISE serialization_failure USING
        MESSAGE = format('the owner of the key "%s" was purged meanwhile, and the key is kept', key),
        HINT = 'Try the transaction again.';
END
$body$;

CREATE FUNCTION workflow.run_ask_kept_key_again() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF workflow.kept_key('job', '', NEW.idempotency_key) IS NOT NULL THEN
        PERFORM workflow.refuse_kept_key(NEW.idempotency_key);
    END IF;
    RETURN NULL;
END
$body$;

CREATE TRIGGER run_ask_kept_key_again
    AFTER INSERT ON workflow.workflow_run FOR EACH ROW
    WHEN (NEW.idempotency_key IS NOT NULL AND current_setting('cairn.engine', true) IS DISTINCT FROM '1')
    EXECUTE FUNCTION workflow.run_ask_kept_key_again();
