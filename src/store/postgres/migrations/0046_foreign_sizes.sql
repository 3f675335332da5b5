-- 0046_foreign_sizes: plain SQL stores no value that nobody could be given.
-- oldest: 0036
-- locks: a moment
--
-- Requests are refused beyond max_payload; what is written past the engine is refused beyond 16 MiB of text, which
-- is what an answer may hold.  jsonb is small where its text is not (1e308 has 309 digits), so the text is counted,
-- and only of a column that is written.

CREATE FUNCTION workflow.run_foreign_size() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    most CONSTANT int := 16777216;
    what text;
BEGIN
    what := CASE WHEN octet_length(NEW.payload::text) > most THEN 'payload'
                 WHEN octet_length(NEW.result::text) > most THEN 'result'
                 WHEN octet_length(NEW.metadata::text) > most THEN 'metadata' END;
    IF what IS NOT NULL THEN
        RAISE EXCEPTION '% is longer than 16 MiB as text', what
            USING ERRCODE = 'program_limit_exceeded', COLUMN = what, TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NEW;
END
$body$;

CREATE TRIGGER run_foreign_size
    BEFORE INSERT OR UPDATE OF payload, result, metadata ON workflow.workflow_run FOR EACH ROW
    WHEN (current_setting('cairn.engine', true) IS DISTINCT FROM '1')
    EXECUTE FUNCTION workflow.run_foreign_size();
