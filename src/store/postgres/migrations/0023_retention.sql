-- 0023_retention: how long history is kept, keys that outlive it, and events of which a part is gone.
-- locks: workflow_run and tables of events for a moment; an index of workflow_dlq is built before, while work goes on
--
-- Nothing here reads or rewrites a large table: the default of a new column stands in the catalogue, and the index is
-- of a table that holds what went wrong.

-- One row.  Ages are milliseconds after the end; -1: for ever.  A store that holds something keeps everything until
-- somebody sets a policy.
CREATE TABLE workflow.workflow_retention (
    id                  integer PRIMARY KEY CHECK (id = 1),
    jobs_succeeded      bigint NOT NULL CHECK (jobs_succeeded >= -1),
    jobs_failed         bigint NOT NULL CHECK (jobs_failed >= -1),
    jobs_cancelled      bigint NOT NULL CHECK (jobs_cancelled >= -1),
    instances_completed bigint NOT NULL CHECK (instances_completed >= -1),
    instances_failed    bigint NOT NULL CHECK (instances_failed >= -1),
    instances_cancelled bigint NOT NULL CHECK (instances_cancelled >= -1),
    instances_aborted   bigint NOT NULL CHECK (instances_aborted >= -1),
    keys                bigint NOT NULL CHECK (keys >= -1),
    set_at              timestamptz,
    next_at             timestamptz,
    phase               integer NOT NULL DEFAULT 0,
    place               bigint NOT NULL DEFAULT 0,
    earliest            timestamptz,
    seen                bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO workflow.workflow_retention
       (id, jobs_succeeded, jobs_failed, jobs_cancelled, instances_completed, instances_failed,
        instances_cancelled, instances_aborted, keys)
SELECT 1, c.month, c.quarter, c.month, c.month, c.quarter, c.month, c.quarter, 7776000000
  FROM (SELECT CASE WHEN store.is_new THEN 2592000000 ELSE -1 END AS month,
               CASE WHEN store.is_new THEN 7776000000 ELSE -1 END AS quarter
          FROM (SELECT NOT EXISTS (SELECT FROM workflow.workflow_run)
                       AND NOT EXISTS (SELECT FROM workflow.workflow_instance)
                       AND NOT EXISTS (SELECT FROM workflow.workflow_definition)
                       AND NOT EXISTS (SELECT FROM workflow.workflow_registry)
                       AND NOT EXISTS (SELECT FROM workflow.workflow_event_loose) AS is_new) AS store) AS c;

-- ---- keys -------------------------------------------------------------------------------------------

-- Keys whose owner was purged.
CREATE TABLE workflow.workflow_key (
    kind     text COLLATE "C" NOT NULL CHECK (kind IN ('job', 'instance')),
    workflow text COLLATE "C" NOT NULL,
    key      text COLLATE "C" NOT NULL,
    id       uuid NOT NULL,
    ended_at timestamptz NOT NULL,
    PRIMARY KEY (key, workflow, kind)
);

CREATE INDEX idx_workflow_key_ended ON workflow.workflow_key (ended_at);

-- The owner of a key that is kept; NULL: it is not.  Producers need no right to read the table.
CREATE FUNCTION workflow.kept_key(kind text, workflow text, key text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT k.id
      FROM workflow.workflow_key AS k
     WHERE k.key = $3 AND k.workflow = $2 AND k.kind = $1
$body$;

-- A row whose key is kept is passed over, as ON CONFLICT DO NOTHING would if its owner were there.  Engines ask
-- themselves.
CREATE FUNCTION workflow.run_ask_kept_key() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF workflow.kept_key('job', '', NEW.idempotency_key) IS NOT NULL THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$body$;

-- Before run_before_foreign_write, as triggers run in the order of their names.
CREATE TRIGGER run_ask_kept_key
    BEFORE INSERT ON workflow.workflow_run FOR EACH ROW
    WHEN (NEW.idempotency_key IS NOT NULL AND current_setting('cairn.engine', true) IS DISTINCT FROM '1')
    EXECUTE FUNCTION workflow.run_ask_kept_key();

CREATE OR REPLACE FUNCTION workflow.intake_before_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF NOT EXISTS (SELECT
                     FROM workflow.workflow_definition AS d
                    WHERE d.name = NEW.workflow
                      AND (NEW.version = 0 OR d.version = NEW.version)) THEN
        RAISE foreign_key_violation USING
            MESSAGE = format('workflow "%s"%s does not exist', NEW.workflow,
                             CASE WHEN NEW.version > 0 THEN ' version ' || NEW.version END),
            HINT = 'Deploy it with: cairn deploy FILE';
    END IF;
    IF EXISTS (SELECT
                 FROM workflow.workflow_instance AS i
                WHERE i.key = NEW.key AND i.workflow = NEW.workflow)
       OR NEW.key IS NOT NULL AND workflow.kept_key('instance', NEW.workflow, NEW.key) IS NOT NULL THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$body$;

-- As before, and it knows kept keys.
CREATE OR REPLACE FUNCTION workflow.start(workflow text, input jsonb DEFAULT '{}', key text DEFAULT NULL,
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

-- ---- events -----------------------------------------------------------------------------------------

-- Dead letters of an instance, closed ones too.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_dlq_list ON workflow.workflow_dlq (instance_id);

-- Of a row of the log, how many events it has, and which of them are purged.  A row that has none left is deleted.
-- One that has few left is written anew with these alone: then its own column `slots` says which they are, in
-- order, such as '0012,0345,'.
CREATE TABLE workflow.workflow_event_gone (
    log_id bigint PRIMARY KEY,
    used   integer NOT NULL,
    slots  integer[] NOT NULL
) WITH (
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000
);

ALTER TABLE workflow.workflow_event_log ADD COLUMN slots text;

-- Where the numbers of an event stand in its row.
CREATE FUNCTION workflow.event_place(slots text, event bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN slots IS NULL THEN event
                ELSE (strpos(slots, lpad((event & 4095)::text, 4, '0') || ',') - 1) / 5 END
$body$;

-- Which slot stands at a place.
CREATE FUNCTION workflow.event_slot(slots text, place bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN slots IS NULL THEN (place & 4095)::int
                ELSE substr(slots, (place & 4095)::int * 5 + 1, 4)::int END
$body$;

-- How many events a row has: kinds are below 4096, so that ffff can only be a slot that is not used.
CREATE FUNCTION workflow.event_used(ids bytea, kinds bytea) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT length(ids) / 16
           - coalesce((length(encode(kinds, 'hex')) - length(replace(encode(kinds, 'hex'), 'ffff', ''))) / 4, 0)
$body$;

-- As in 0011, but for `slots` and for what is purged.
CREATE OR REPLACE VIEW workflow.workflow_event AS
SELECT e.id, e.workflow_id, e.event_type, e.data, e.created_at, e.step
  FROM workflow.workflow_event_loose AS e
UNION ALL
SELECT e.id, subject.id, e.event_type, e.data, e.created_at, e.step
  FROM (SELECT r.id, r.last_event FROM workflow.workflow_run AS r
        UNION ALL
        SELECT i.id, i.last_event FROM workflow.workflow_instance AS i) AS subject
 CROSS JOIN LATERAL (
       WITH RECURSIVE walk (id, prev, event_type, step, data, created_at) AS (
           SELECT subject.last_event,
                  workflow.event_prev(l.prev, workflow.event_place(l.slots, subject.last_event)),
                  l.types[workflow.event_kind(l.kinds, workflow.event_place(l.slots, subject.last_event))],
                  l.steps[workflow.event_kind(l.kinds, workflow.event_place(l.slots, subject.last_event))],
                  l.data[workflow.event_kind(l.kinds, workflow.event_place(l.slots, subject.last_event))],
                  l.at
             FROM workflow.workflow_event_log AS l
            WHERE l.id = subject.last_event >> 12
           UNION ALL
           SELECT walk.prev, l.*
             FROM walk
            CROSS JOIN LATERAL (
                  SELECT workflow.event_prev(o.prev, workflow.event_place(o.slots, walk.prev)),
                         o.types[workflow.event_kind(o.kinds, workflow.event_place(o.slots, walk.prev))],
                         o.steps[workflow.event_kind(o.kinds, workflow.event_place(o.slots, walk.prev))],
                         o.data[workflow.event_kind(o.kinds, workflow.event_place(o.slots, walk.prev))],
                         o.at
                    FROM workflow.workflow_event_log AS o
                   WHERE o.id = walk.prev >> 12
                   LIMIT 1) AS l    -- one probe for each, whatever the planner believes
       )
       SELECT walk.id, walk.event_type, walk.step, walk.data, walk.created_at FROM walk) AS e;

CREATE OR REPLACE VIEW workflow.workflow_event_stream AS
SELECT e.id, e.id >> 12 AS log_id, e.workflow_id, e.event_type, e.data, e.created_at, e.step
  FROM workflow.workflow_event_loose AS e
UNION ALL
SELECT (l.id << 12) + workflow.event_slot(l.slots, place.id), l.id, workflow.event_subject(l.ids, place.id),
       l.types[workflow.event_kind(l.kinds, place.id)], l.data[workflow.event_kind(l.kinds, place.id)],
       l.at, l.steps[workflow.event_kind(l.kinds, place.id)]
  FROM workflow.workflow_event_log AS l
  LEFT JOIN workflow.workflow_event_gone AS g ON g.log_id = l.id
 CROSS JOIN LATERAL generate_series(l.id << 12, (l.id << 12) + length(l.ids) / 16 - 1) AS place (id)
 WHERE workflow.event_kind(l.kinds, place.id) <= 65535
   AND (g.slots IS NULL OR workflow.event_slot(l.slots, place.id) <> ALL (g.slots));

-- Rows that are purged leave room, which is to be used again before the tables grow.
ALTER TABLE workflow.workflow_event_log SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE workflow.workflow_event_loose SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE workflow.workflow_run_order SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE workflow.workflow_signal SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE workflow.workflow_outbox SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE workflow.workflow_log SET (autovacuum_vacuum_scale_factor = 0.02);
