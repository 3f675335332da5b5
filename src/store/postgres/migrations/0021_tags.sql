-- 0021_tags: names and values by which jobs and instances are found.
-- locks: workflow_run, workflow_instance and workflow_intake for a moment
--
-- A row keeps its tags itself; workflow_tag is their index, and triggers keep it, also for rows that an
-- application writes.  A row without tags writes nothing there.  Nothing here reads or rewrites a table that
-- is there.

ALTER TABLE workflow.workflow_run ADD COLUMN tags jsonb;
ALTER TABLE workflow.workflow_instance ADD COLUMN tags jsonb;

CREATE TABLE workflow.workflow_tag (
    name  text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 64 AND name !~ '[:=]'),
    value text COLLATE "C" NOT NULL CHECK (octet_length(value) <= 256),
    kind  text COLLATE "C" NOT NULL CHECK (kind IN ('job', 'instance')),
    seq   bigint NOT NULL,
    PRIMARY KEY (name, value, kind, seq)
);

-- A value that is no text becomes null, which the table refuses.
CREATE FUNCTION workflow.tag_after_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.tags IS NOT NULL THEN
        DELETE FROM workflow.workflow_tag AS t
         USING jsonb_each_text(OLD.tags) AS gone
         WHERE t.name = gone.key AND t.value = gone.value AND t.kind = TG_ARGV[0] AND t.seq = OLD.seq;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.tags IS NOT NULL THEN
        IF jsonb_typeof(NEW.tags) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(NEW.tags)) > 16 THEN
            RAISE check_violation USING MESSAGE = 'tags is not an object with at most 16 texts';
        END IF;
        INSERT INTO workflow.workflow_tag (name, value, kind, seq)
        SELECT given.key, CASE jsonb_typeof(given.value) WHEN 'string' THEN given.value #>> '{}' END,
               TG_ARGV[0], NEW.seq
          FROM jsonb_each(NEW.tags) AS given;
    END IF;
    RETURN NULL;
END
$body$;

CREATE FUNCTION workflow.tag_after_truncate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    DELETE FROM workflow.workflow_tag WHERE kind = TG_ARGV[0];
    RETURN NULL;
END
$body$;

CREATE TRIGGER run_tags_insert
    AFTER INSERT ON workflow.workflow_run FOR EACH ROW
    WHEN (NEW.tags IS NOT NULL)
    EXECUTE FUNCTION workflow.tag_after_write('job');

CREATE TRIGGER run_tags_update
    AFTER UPDATE OF tags, seq ON workflow.workflow_run FOR EACH ROW
    WHEN (NEW.tags IS DISTINCT FROM OLD.tags OR NEW.seq <> OLD.seq)
    EXECUTE FUNCTION workflow.tag_after_write('job');

CREATE TRIGGER run_tags_delete
    AFTER DELETE ON workflow.workflow_run FOR EACH ROW
    WHEN (OLD.tags IS NOT NULL)
    EXECUTE FUNCTION workflow.tag_after_write('job');

CREATE TRIGGER run_tags_truncate
    AFTER TRUNCATE ON workflow.workflow_run FOR EACH STATEMENT
    EXECUTE FUNCTION workflow.tag_after_truncate('job');

CREATE TRIGGER instance_tags_insert
    AFTER INSERT ON workflow.workflow_instance FOR EACH ROW
    WHEN (NEW.tags IS NOT NULL)
    EXECUTE FUNCTION workflow.tag_after_write('instance');

CREATE TRIGGER instance_tags_delete
    AFTER DELETE ON workflow.workflow_instance FOR EACH ROW
    WHEN (OLD.tags IS NOT NULL)
    EXECUTE FUNCTION workflow.tag_after_write('instance');

CREATE TRIGGER instance_tags_truncate
    AFTER TRUNCATE ON workflow.workflow_instance FOR EACH STATEMENT
    EXECUTE FUNCTION workflow.tag_after_truncate('instance');

-- Starts by plain SQL may have tags now.
ALTER TABLE workflow.workflow_intake
    DROP CONSTRAINT workflow_intake_tags_check,
    ADD CONSTRAINT workflow_intake_tags_check CHECK (jsonb_typeof(tags) = 'object');

-- As before, with tags; who may call it may go on doing so.
CREATE FUNCTION workflow.start(workflow text, input jsonb DEFAULT '{}', key text DEFAULT NULL,
                               version integer DEFAULT 0, start_at timestamptz DEFAULT NULL,
                               metadata jsonb DEFAULT NULL, id uuid DEFAULT NULL,
                               tags jsonb DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
    answer uuid;
BEGIN
    FOR try IN 1..3 LOOP
        INSERT INTO workflow.workflow_intake AS n
               (id, workflow, version, input, key, start_at, metadata, tags)
        VALUES (coalesce(start.id, gen_random_uuid()), start.workflow, coalesce(start.version, 0),
                coalesce(start.input, '{}'), start.key, start.start_at, start.metadata,
                coalesce(start.tags, '{}'))
        ON CONFLICT DO NOTHING
        RETURNING n.id INTO answer;
        -- Each statement sees what has been committed before it.
        IF answer IS NULL THEN
            SELECT known.id INTO answer
              FROM (SELECT i.id
                      FROM workflow.workflow_instance AS i
                     WHERE i.key = start.key AND i.workflow = start.workflow
                    UNION ALL
                    SELECT n.id
                      FROM workflow.workflow_intake AS n
                     WHERE n.key = start.key AND n.workflow = start.workflow
                        OR n.id = start.id) AS known
             LIMIT 1;
        END IF;
        IF answer IS NOT NULL THEN
            RETURN answer;
        END IF;
    END LOOP;
    RAISE serialization_failure USING
        MESSAGE = format('could not start workflow "%s": another transaction has started it under the '
                         'key "%s"', start.workflow, start.key),
        HINT = 'Try the transaction again.';
END
$body$;

DO $body$
DECLARE
    old constant regprocedure := 'workflow.start(text, jsonb, text, integer, timestamptz, jsonb, uuid)';
    new constant regprocedure := 'workflow.start(text, jsonb, text, integer, timestamptz, jsonb, uuid, jsonb)';
    granted record;
BEGIN
    -- No list of privileges means that everybody may, as with a function that is new.
    IF (SELECT proacl IS NOT NULL FROM pg_proc WHERE oid = old) THEN
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', new);
    END IF;
    FOR granted IN
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
               CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS more
          FROM pg_proc AS f
         CROSS JOIN LATERAL aclexplode(f.proacl) AS a
         WHERE f.oid = old AND a.grantee <> f.proowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s%s', new, granted.grantee, granted.more);
    END LOOP;
    EXECUTE format('DROP FUNCTION %s', old);
END
$body$;
