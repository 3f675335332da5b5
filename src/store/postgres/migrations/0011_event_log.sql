-- 0011_event_log: one row of events for each commit, and a chain from each job and instance to its own.
-- locks: workflow_run, workflow_instance and workflow_event for a moment
--
-- A row of workflow_event_log holds up to 4096 events, in slots from 0.  The id of an event is the id of its row
-- << 12 | its slot.  The row of a job or an instance has the id of its latest event (last_event), and
-- each event the id of the one before it (prev): so the history of one subject is read backwards, by
-- primary key, without an index of subjects.  workflow_event_post has every 100th event of a subject, so that
-- a reader need not begin at the newest one.
--
-- Events from before stay where they are, in the table that is workflow_event_loose now; their ids stay as well.
-- Nothing here reads or rewrites a table that is there: the defaults stand in the catalogue.

ALTER TABLE workflow.workflow_run
    ADD COLUMN last_event  bigint  NOT NULL DEFAULT 0,  -- 0: it has none in workflow_event_log
    ADD COLUMN event_count integer NOT NULL DEFAULT 0;  -- how many it has in workflow_event_log

ALTER TABLE workflow.workflow_instance
    ADD COLUMN last_event  bigint  NOT NULL DEFAULT 0,
    ADD COLUMN event_count integer NOT NULL DEFAULT 0;

-- Numbers are in network byte order.  Events of a commit are much alike: what they say stands once, in
-- types, steps and data, and each slot has the place of its own.
CREATE TABLE workflow.workflow_event_log (
    id    bigint PRIMARY KEY,
    at    timestamptz NOT NULL,
    ids   bytea NOT NULL,       -- 16 bytes a slot: the job or instance
    prev  bytea,                -- 8 bytes a slot: its event before this one, 0 for none; NULL: all 0
    kinds bytea,                -- 2 bytes a slot: places from 0, 65535 for a slot that is not used; NULL: all 0
    types text[] NOT NULL,
    steps text[],
    data  jsonb[] NOT NULL
);

-- A part of such a value can be read without the rest of it.
ALTER TABLE workflow.workflow_event_log
    ALTER COLUMN ids   SET STORAGE EXTERNAL,
    ALTER COLUMN prev  SET STORAGE EXTERNAL,
    ALTER COLUMN kinds SET STORAGE EXTERNAL;

CREATE TABLE workflow.workflow_event_post (
    workflow_id uuid NOT NULL,
    event_id    bigint NOT NULL,
    PRIMARY KEY (workflow_id, event_id)
);

-- Of the event with this id, in its row: the subject, the event before it, and its place in types.
CREATE FUNCTION workflow.event_subject(ids bytea, event bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT encode(substr(ids, (event & 4095)::int * 16 + 1, 16), 'hex')::uuid
$body$;

CREATE FUNCTION workflow.event_prev(prev bytea, event bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT coalesce(('x' || encode(substr(prev, (event & 4095)::int * 8 + 1, 8), 'hex'))::bit(64)::bigint,
                    0)
$body$;

CREATE FUNCTION workflow.event_kind(kinds bytea, event bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT 1 + coalesce(('x' || encode(substr(kinds, (event & 4095)::int * 2 + 1, 2), 'hex'))::bit(16)::int,
                        0)
$body$;

-- ---- events of no row -------------------------------------------------------------------------------
--
-- Events that plain SQL inserts, and the starts of steps whose instance the claim has not locked.  They are
-- found by the index.

ALTER TABLE workflow.workflow_event RENAME TO workflow_event_loose;

-- One sequence for the rows of both tables.  It goes on behind the ids that are there.
ALTER TABLE workflow.workflow_event_loose ALTER COLUMN id DROP IDENTITY;
CREATE SEQUENCE workflow.workflow_event_id_seq;
SELECT setval('workflow.workflow_event_id_seq', (max(e.id) >> 12) + 1)
  FROM workflow.workflow_event_loose AS e
HAVING max(e.id) IS NOT NULL;
ALTER TABLE workflow.workflow_event_loose
    ALTER COLUMN id SET DEFAULT nextval('workflow.workflow_event_id_seq') << 12;
ALTER SEQUENCE workflow.workflow_event_id_seq OWNED BY workflow.workflow_event_loose.id;

-- ---- the settled ids --------------------------------------------------------------------------------
--
-- As in 0002, with the numbers of rows: a transaction says, before it takes its first one, up to which
-- number it will write nothing.

CREATE FUNCTION workflow.mark_events() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF current_setting('cairn.events', true) IS DISTINCT FROM '1' THEN
        PERFORM pg_advisory_xact_lock_shared((25441::bigint << 40) | given.last_id)
           FROM (SELECT q.last_value - CASE WHEN q.is_called THEN 0 ELSE 1 END AS last_id
                   FROM workflow.workflow_event_id_seq AS q) AS given;
        PERFORM set_config('cairn.events', '1', true);
    END IF;
END
$body$;

-- A number for a row of workflow_event_log.
CREATE FUNCTION workflow.take_log() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    PERFORM workflow.mark_events();
    RETURN nextval('workflow.workflow_event_id_seq');
END
$body$;

CREATE OR REPLACE FUNCTION workflow.event_before_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    PERFORM workflow.mark_events();
    RETURN NULL;
END
$body$;

-- ---- what plain SQL sees ----------------------------------------------------------------------------

-- All events, found by their subject.  WHERE workflow_id = ... reads the events of that one.
CREATE VIEW workflow.workflow_event AS
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
                  workflow.event_prev(l.prev, subject.last_event),
                  l.types[workflow.event_kind(l.kinds, subject.last_event)],
                  l.steps[workflow.event_kind(l.kinds, subject.last_event)],
                  l.data[workflow.event_kind(l.kinds, subject.last_event)],
                  l.at
             FROM workflow.workflow_event_log AS l
            WHERE l.id = subject.last_event >> 12
           UNION ALL
           SELECT walk.prev, l.*
             FROM walk
            CROSS JOIN LATERAL (
                  SELECT workflow.event_prev(o.prev, walk.prev),
                         o.types[workflow.event_kind(o.kinds, walk.prev)],
                         o.steps[workflow.event_kind(o.kinds, walk.prev)],
                         o.data[workflow.event_kind(o.kinds, walk.prev)],
                         o.at
                    FROM workflow.workflow_event_log AS o
                   WHERE o.id = walk.prev >> 12
                   LIMIT 1) AS l    -- one probe for each, whatever the planner believes
       )
       SELECT walk.id, walk.event_type, walk.step, walk.data, walk.created_at FROM walk) AS e;

-- All events, found by their ids.  log_id is id >> 12: WHERE id > ... AND log_id >= ... reads the events
-- from there on.
CREATE VIEW workflow.workflow_event_stream AS
SELECT e.id, e.id >> 12 AS log_id, e.workflow_id, e.event_type, e.data, e.created_at, e.step
  FROM workflow.workflow_event_loose AS e
UNION ALL
SELECT slot.id, l.id, workflow.event_subject(l.ids, slot.id),
       l.types[workflow.event_kind(l.kinds, slot.id)], l.data[workflow.event_kind(l.kinds, slot.id)],
       l.at, l.steps[workflow.event_kind(l.kinds, slot.id)]
  FROM workflow.workflow_event_log AS l
 CROSS JOIN LATERAL generate_series(l.id << 12, (l.id << 12) + length(l.ids) / 16 - 1) AS slot (id)
 WHERE workflow.event_kind(l.kinds, slot.id) <= 65535;

-- Who may read or write events may go on doing so.
DO $body$
DECLARE
    granted record;
BEGIN
    FOR granted IN
        SELECT a.privilege_type || coalesce(' (' || quote_ident(c.attname) || ')', '') AS what,
               CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
               CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS more
          FROM (SELECT t.relacl AS acl, t.relowner, NULL::name AS attname
                  FROM pg_class AS t WHERE t.oid = 'workflow.workflow_event_loose'::regclass
                UNION ALL
                SELECT n.attacl, t.relowner, n.attname
                  FROM pg_class AS t JOIN pg_attribute AS n ON n.attrelid = t.oid
                 WHERE t.oid = 'workflow.workflow_event_loose'::regclass) AS c
         CROSS JOIN LATERAL aclexplode(c.acl) AS a
         WHERE a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT %s ON workflow.workflow_event TO %s%s', granted.what, granted.grantee,
                       granted.more);
    END LOOP;
END
$body$;

CREATE FUNCTION workflow.event_instead_of_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    INSERT INTO workflow.workflow_event_loose AS e (workflow_id, event_type, data, created_at, step)
    VALUES (NEW.workflow_id, NEW.event_type, coalesce(NEW.data, '{}'), coalesce(NEW.created_at, now()),
            NEW.step)
    RETURNING e.id, e.data, e.created_at INTO NEW.id, NEW.data, NEW.created_at;
    RETURN NEW;
END
$body$;

CREATE TRIGGER event_instead_of_insert
    INSTEAD OF INSERT ON workflow.workflow_event FOR EACH ROW
    EXECUTE FUNCTION workflow.event_instead_of_insert();

-- ---- writes that are not the engine's ---------------------------------------------------------------
--
-- The triggers of workflow_run write the event of a change, as before, and now add it to the row's chain.

-- Which event a change is; NULL: none.
CREATE FUNCTION workflow.run_event(old_status text, new_status text, is_other_worker boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE
        WHEN new_status <> old_status AND new_status = 'pending' THEN 'retried'
        WHEN new_status <> old_status THEN new_status
        WHEN new_status = 'leased' AND is_other_worker THEN 'leased'
    END
$body$;

-- Takes ids for the events that run_after_foreign_write() writes.  A new row has one that it was created, and
-- perhaps another one.
CREATE FUNCTION workflow.run_number_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    added integer := 0;
BEGIN
    IF TG_OP = 'INSERT' THEN
        added := CASE WHEN NEW.status = 'pending' THEN 1 ELSE 2 END;
        NEW.event_count := added;
    ELSE
        IF workflow.run_event(OLD.status, NEW.status, NEW.leased_by IS DISTINCT FROM OLD.leased_by) IS NOT NULL
        THEN
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
        event := workflow.run_event(OLD.status, NEW.status, NEW.leased_by IS DISTINCT FROM OLD.leased_by);
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

-- After run_before_foreign_write, as triggers run in the order of their names.
CREATE TRIGGER run_number_events
    BEFORE INSERT OR UPDATE ON workflow.workflow_run FOR EACH ROW
    WHEN (current_setting('cairn.engine', true) IS DISTINCT FROM '1')
    EXECUTE FUNCTION workflow.run_number_events();
