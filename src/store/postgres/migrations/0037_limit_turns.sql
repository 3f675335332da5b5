-- 0037_limit_turns: which group was served last, for all processes; starts by plain SQL have a group.
-- oldest: 0036
-- locks: nothing that exists

-- Written by whoever holds the gate, once in a commit; pages stay empty enough for that.
CREATE TABLE workflow.workflow_limit_turn (
    number  integer PRIMARY KEY,
    "group" text COLLATE "C" NOT NULL
) WITH (fillfactor = 10);

-- As before, with the group; who may call it may go on doing so.
CREATE FUNCTION workflow.start(workflow text, input jsonb DEFAULT '{}', key text DEFAULT NULL,
                               version integer DEFAULT 0, start_at timestamptz DEFAULT NULL,
                               metadata jsonb DEFAULT NULL, id uuid DEFAULT NULL,
                               tags jsonb DEFAULT NULL, "group" text DEFAULT '') RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
    answer uuid;
BEGIN
    FOR try IN 1..3 LOOP
        INSERT INTO workflow.workflow_intake AS n
               (id, workflow, version, input, key, start_at, metadata, tags, "group")
        VALUES (coalesce(start.id, gen_random_uuid()), start.workflow, coalesce(start.version, 0),
                coalesce(start.input, '{}'), start.key, start.start_at, start.metadata,
                coalesce(start.tags, '{}'), coalesce(start."group", ''))
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
        IF answer IS NULL THEN
            answer := workflow.kept_key('instance', start.workflow, start.key);
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
    old constant regprocedure := 'workflow.start(text, jsonb, text, integer, timestamptz, jsonb, uuid, jsonb)';
    new constant regprocedure :=
        'workflow.start(text, jsonb, text, integer, timestamptz, jsonb, uuid, jsonb, text)';
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
