-- name: append_event_log
-- doing: write events
-- The events of a commit; see 0011_event_log for the columns.
--
--   $1      the row's id; from 2^50 on the one that this transaction was given with its begin
--   $2..$4  subjects, events before these, and places in what follows; bytes
--   $5..$7  arrays of types, steps and data
--   $8      when
INSERT INTO workflow.workflow_event_log (id, ids, prev, kinds, types, steps, data, at)
VALUES (CASE WHEN $1::bigint < 1125899906842624 THEN $1::bigint
             ELSE currval('workflow.workflow_event_id_seq') END, $2::bytea, $3::bytea, $4::bytea, $5::text[], $6::text[], $7::jsonb[],
        $8::timestamptz)


-- name: append_posts
-- doing: write events
-- Marks events at which a walk along their subject's chain may begin.
--
--   $1, $2  arrays: subjects, events; from 2^62 on of the row of the log that this transaction was given with its begin
INSERT INTO workflow.workflow_event_post (workflow_id, event_id)
SELECT given.id,
       CASE WHEN given.event < 4611686018427387904 THEN given.event
            ELSE given.event - 4611686018427387904
                 + (currval('workflow.workflow_event_id_seq') << 12) END
  FROM unnest($1::uuid[], $2::bigint[]) AS given (id, event)


-- name: append_loose
-- doing: write events
-- Adds events that are in no chain, in the order given.
--
--   $1..  an array for each column; last the time of the transaction
INSERT INTO workflow.workflow_event_loose
       ({event.insert})
SELECT {event.values}
  FROM (SELECT {event.arrays insert}) AS given


-- name: number_events
-- doing: write events
-- A number for one more row of workflow_event_log.
SELECT workflow.take_log()


-- name: list_events
-- What happened to an instance or a job, oldest first.
--
--   $1  instance
--   $2  only events after this id
--   $3  how many at most
--
-- Walks its chain backwards: from a post behind the last of the wanted events, or from the newest.  What a row of the log says is
-- made whole once for the page (|| '{}'), however many of its events are on it.
WITH RECURSIVE first (id) AS (
    SELECT coalesce((SELECT p.event_id
                       FROM workflow.workflow_event_post AS p
                      WHERE p.workflow_id = $1::uuid
                        AND p.event_id > $2::bigint
                      ORDER BY p.event_id
                     OFFSET ($3::bigint + 99) / 100
                      LIMIT 1), subject.last_event)
      FROM (SELECT r.last_event FROM workflow.workflow_run AS r WHERE r.id = $1::uuid
            UNION ALL
            SELECT i.last_event FROM workflow.workflow_instance AS i WHERE i.id = $1::uuid) AS subject
), walk (id, prev, kind) AS (
    SELECT first.id,
           workflow.event_prev(l.prev, workflow.event_place(l.slots, first.id)),
           workflow.event_kind(l.kinds, workflow.event_place(l.slots, first.id))
      FROM first
      JOIN workflow.workflow_event_log AS l ON l.id = first.id >> 12
     WHERE first.id > $2::bigint
    UNION ALL
    SELECT walk.prev,
           workflow.event_prev(l.prev, workflow.event_place(l.slots, walk.prev)),
           workflow.event_kind(l.kinds, workflow.event_place(l.slots, walk.prev))
      FROM walk
      JOIN workflow.workflow_event_log AS l ON l.id = walk.prev >> 12
     WHERE walk.prev > $2::bigint
), page AS (
    SELECT w.id, w.kind
      FROM walk AS w
     ORDER BY w.id
     LIMIT $3::bigint
), logged AS (
    SELECT e.id, l.types[e.kind] AS event_type, l.steps[e.kind] AS step, l.data[e.kind] AS data, l.at AS created_at
      FROM (SELECT g.ids, g.kinds, o.at, o.types || '{}'::text[] AS types, o.steps || '{}'::text[] AS steps,
                   o.data || '{}'::jsonb[] AS data
              FROM (SELECT p.id >> 12 AS log_id, array_agg(p.id) AS ids, array_agg(p.kind) AS kinds
                      FROM page AS p
                     GROUP BY p.id >> 12) AS g
             CROSS JOIN LATERAL (SELECT n.*
                                   FROM workflow.workflow_event_log AS n
                                  WHERE n.id = g.log_id
                                  LIMIT 1) AS o
            OFFSET 0) AS l
     CROSS JOIN LATERAL unnest(l.ids, l.kinds) AS e (id, kind)
), loose AS (
    SELECT e.id, e.event_type, e.step, e.data, e.created_at
      FROM workflow.workflow_event_loose AS e
     WHERE e.workflow_id = $1::uuid
       AND e.id > $2::bigint
     ORDER BY e.id
     LIMIT $3::bigint
)
SELECT e.id, $1::uuid::text, e.event_type, e.step, e.data::text, e.created_at
  FROM (SELECT logged.* FROM logged
        UNION ALL
        SELECT loose.* FROM loose) AS e
 ORDER BY e.id
 LIMIT $3::bigint


-- name: list_events_before
-- doing: list events
-- What happened to an instance or a job, newest first.
--
--   $1  instance
--   $2  only events before this id
--   $3  how many at most
--
-- Walks its chain backwards, from the first post that is not before $2, or from the newest event; so at most 100
-- events are passed over.  Rows of the log are made whole as in list_events.
WITH RECURSIVE first (id) AS (
    SELECT coalesce((SELECT p.event_id
                       FROM workflow.workflow_event_post AS p
                      WHERE p.workflow_id = $1::uuid
                        AND p.event_id >= $2::bigint
                      ORDER BY p.event_id
                      LIMIT 1), subject.last_event)
      FROM (SELECT r.last_event FROM workflow.workflow_run AS r WHERE r.id = $1::uuid
            UNION ALL
            SELECT i.last_event FROM workflow.workflow_instance AS i WHERE i.id = $1::uuid) AS subject
), walk (id, prev, kind, seen) AS (
    SELECT first.id,
           workflow.event_prev(l.prev, workflow.event_place(l.slots, first.id)),
           workflow.event_kind(l.kinds, workflow.event_place(l.slots, first.id)),
           CASE WHEN first.id < $2::bigint THEN 1 ELSE 0 END
      FROM first
      JOIN workflow.workflow_event_log AS l ON l.id = first.id >> 12
    UNION ALL
    SELECT walk.prev,
           workflow.event_prev(l.prev, workflow.event_place(l.slots, walk.prev)),
           workflow.event_kind(l.kinds, workflow.event_place(l.slots, walk.prev)),
           walk.seen + CASE WHEN walk.prev < $2::bigint THEN 1 ELSE 0 END
      FROM walk
      JOIN workflow.workflow_event_log AS l ON l.id = walk.prev >> 12
     WHERE walk.seen < $3::bigint
), page AS (
    SELECT w.id, w.kind
      FROM walk AS w
     WHERE w.seen > 0
     ORDER BY w.id DESC
     LIMIT $3::bigint
), logged AS (
    SELECT e.id, l.types[e.kind] AS event_type, l.steps[e.kind] AS step, l.data[e.kind] AS data, l.at AS created_at
      FROM (SELECT g.ids, g.kinds, o.at, o.types || '{}'::text[] AS types, o.steps || '{}'::text[] AS steps,
                   o.data || '{}'::jsonb[] AS data
              FROM (SELECT p.id >> 12 AS log_id, array_agg(p.id) AS ids, array_agg(p.kind) AS kinds
                      FROM page AS p
                     GROUP BY p.id >> 12) AS g
             CROSS JOIN LATERAL (SELECT n.*
                                   FROM workflow.workflow_event_log AS n
                                  WHERE n.id = g.log_id
                                  LIMIT 1) AS o
            OFFSET 0) AS l
     CROSS JOIN LATERAL unnest(l.ids, l.kinds) AS e (id, kind)
), loose AS (
    SELECT e.id, e.event_type, e.step, e.data, e.created_at
      FROM workflow.workflow_event_loose AS e
     WHERE e.workflow_id = $1::uuid
       AND e.id < $2::bigint
     ORDER BY e.id DESC
     LIMIT $3::bigint
)
SELECT e.id, $1::uuid::text, e.event_type, e.step, e.data::text, e.created_at
  FROM (SELECT logged.* FROM logged
        UNION ALL
        SELECT loose.* FROM loose) AS e
 ORDER BY e.id DESC
 LIMIT $3::bigint


-- name: settled_event
-- doing: list events
-- Up to which row of workflow_event_log no open transaction can still add one, or a loose event with its number.
--
-- A writer says with a shared advisory lock, before it takes its first number, up to which number it
-- will write nothing (mark_events() in 0011_event_log).  So of the numbers given out until now, those
-- that are not above such a mark belong to transactions that have ended, and a statement that
-- begins after this one sees them.  The order matters: first the last number given out, then the locks,
-- which is why the look at the locks depends on it; and the events are read by a statement of their
-- own.  Our own transaction does not count: it sees what it wrote.
SELECT least(given.last_id, open.mark)
  FROM (SELECT q.last_value - CASE WHEN q.is_called THEN 0 ELSE 1 END AS last_id
          FROM workflow.workflow_event_id_seq AS q
        OFFSET 0) AS given
 CROSS JOIN LATERAL (
       SELECT min(((l.classid::bigint & 255) << 32) | l.objid::bigint) AS mark
         FROM pg_locks AS l
        WHERE l.locktype = 'advisory'
          AND l.database = (SELECT d.oid FROM pg_database AS d
                             WHERE d.datname = current_database())
          AND l.classid::bigint >> 8 = 25441
          AND l.objsubid = 1
          AND l.granted
          AND l.pid IS DISTINCT FROM pg_backend_pid()
          AND ((l.classid::bigint & 255) << 32) | l.objid::bigint < given.last_id) AS open


-- name: list_all_events
-- doing: list events
-- What happened, oldest first.
--
--   $1  only events after this id
--   $2  and before this one: behind what settled_event brought
--   $3  how many at most
--
-- A row of workflow_event_log has one event at least that is not purged.  Its values are made whole once (|| ''), and then cut for each
-- slot.
WITH loose AS (
    SELECT e.id, e.workflow_id, e.event_type, e.step, e.data, e.created_at
      FROM workflow.workflow_event_loose AS e
     WHERE e.id > $1::bigint
       AND e.id < $2::bigint
     ORDER BY e.id
     LIMIT $3::bigint
), logged AS (
    SELECT (l.id << 12) + slot.number AS id, workflow.event_subject(l.ids, slot.place) AS workflow_id,
           l.types[slot.kind] AS event_type, l.steps[slot.kind] AS step, l.data[slot.kind] AS data,
           l.at
      FROM (SELECT o.id, o.at, o.ids || ''::bytea AS ids, o.kinds || ''::bytea AS kinds, o.types, o.steps,
                   o.data, o.slots, g.slots AS gone
              FROM (SELECT w.*
                      FROM workflow.workflow_event_log AS w
                     WHERE w.id >= $1::bigint >> 12
                       AND w.id < $2::bigint >> 12
                     ORDER BY w.id
                     LIMIT $3::bigint + 1) AS o
              LEFT JOIN LATERAL (SELECT n.slots
                                   FROM workflow.workflow_event_gone AS n
                                  WHERE n.log_id = o.id
                                  LIMIT 1) AS g ON true
             ORDER BY o.id) AS l
     CROSS JOIN LATERAL (
           SELECT s.place, workflow.event_slot(l.slots, s.place) AS number,
                  workflow.event_kind(l.kinds, s.place) AS kind
             FROM generate_series(0::bigint, length(l.ids) / 16 - 1) AS s (place)
           OFFSET 0) AS slot
     WHERE (l.id << 12) + slot.number > $1::bigint
       AND slot.kind <= 65535
       AND (l.gone IS NULL OR slot.number <> ALL (l.gone))
     LIMIT $3::bigint
)
SELECT e.id, e.workflow_id::text, e.event_type, e.step, e.data::text, e.created_at
  FROM (SELECT loose.* FROM loose
        UNION ALL
        SELECT logged.* FROM logged) AS e
 ORDER BY e.id
 LIMIT $3::bigint
