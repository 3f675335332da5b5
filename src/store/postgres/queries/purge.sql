-- name: get_retention
-- doing: read the retention policy
-- The only row.
SELECT {retention.columns p}
  FROM workflow.workflow_retention AS p
 WHERE p.id = 1


-- name: lock_retention
-- doing: read the retention policy
-- The only row, for change.
SELECT {retention.columns p}
  FROM workflow.workflow_retention AS p
 WHERE p.id = 1
   FOR UPDATE


-- name: take_retention
-- doing: read the retention policy
-- The same, unless another transaction holds it.
SELECT {retention.columns p}
  FROM workflow.workflow_retention AS p
 WHERE p.id = 1
   FOR UPDATE SKIP LOCKED


-- name: put_retention
-- doing: write the retention policy
--
--   $1..  an array for each column
UPDATE workflow.workflow_retention AS p
   SET {retention.changes}
  FROM (SELECT {retention.arrays changes}) AS given
 WHERE p.id = given.id


-- part: past_job
-- A deleted one is cancelled, unless somebody still holds it.
@seq, @id::text, @type,
CASE WHEN @deleted_at IS NOT NULL AND @status <> 'leased' THEN 'cancelled' ELSE @status END,
CASE WHEN @status = 'leased' THEN NULL
     WHEN @deleted_at IS NOT NULL THEN @deleted_at
     WHEN @status <> 'pending' THEN @updated_at END,
@created_at, false, false, false, @idempotency_key, @last_event, @event_count


-- part: past_instance
-- What stands before is_child.
@seq, @id::text, @workflow, @status, @finished_at, @created_at


-- part: is_held
-- Questions for one row each: one probe, whatever the planner believes.
@is_telling
OR (SELECT true FROM workflow.workflow_dlq AS d WHERE d.instance_id = @id AND d.is_open LIMIT 1) IS NOT NULL
OR (SELECT true FROM workflow.workflow_outbox AS o WHERE o.instance_id = @id AND o.acked_at IS NULL LIMIT 1) IS NOT NULL


-- part: chain
-- What stands behind is_held.
@key, @last_event, @event_count


-- part: family
-- The children of the instance $1, their children and so on.
WITH RECURSIVE family (id) AS (
    SELECT c.id FROM workflow.workflow_instance AS c WHERE c.parent = $1::uuid
    UNION
    SELECT c.id
      FROM family AS f
     CROSS JOIN LATERAL (SELECT i.id FROM workflow.workflow_instance AS i WHERE i.parent = f.id OFFSET 0) AS c
)


-- name: scan_past_jobs
-- doing: look for old jobs
-- Jobs in the order of their numbers.
--
--   $1  those behind this number
--   $2  how many at most
--
-- Walks workflow_run_order.
SELECT {past_job r}
  FROM (SELECT o.seq, o.id
          FROM workflow.workflow_run_order AS o
         WHERE o.seq > $1::bigint
         ORDER BY o.seq
         LIMIT $2::bigint) AS o
 CROSS JOIN LATERAL (
       SELECT j.* FROM workflow.workflow_run AS j WHERE j.id = o.id LIMIT 1) AS r
 ORDER BY o.seq


-- name: scan_past_instances
-- doing: look for old instances
-- Instances in the order of their numbers.
--
--   $1  those behind this number
--   $2  how many at most
SELECT {past_instance i},
       (SELECT true FROM workflow.workflow_instance AS p WHERE p.id = i.parent LIMIT 1) IS NOT NULL,
       (SELECT true FROM workflow.workflow_instance AS c WHERE c.parent = i.id LIMIT 1) IS NOT NULL,
       {is_held i}, {chain i}
  FROM workflow.workflow_instance AS i
 WHERE i.seq > $1::bigint
 ORDER BY i.seq
 LIMIT $2::bigint


-- name: list_family
-- doing: look for children
-- The children of an instance, their children and so on.
--
--   $1  whose
--   $2  how many at most
{family}
SELECT {past_instance i}, true, false,
       {is_held i}, {chain i}
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY (ARRAY(SELECT f.id FROM family AS f LIMIT $2::bigint))


-- name: measure_family
-- doing: look for children
-- How many children an instance has, with theirs and so on; how many of them have not ended; how many others are held.
--
--   $1  whose
{family}
SELECT count(*), count(*) FILTER (WHERE m.finished_at IS NULL),
       count(*) FILTER (WHERE m.finished_at IS NOT NULL AND (
           {is_held m}))
  FROM family AS f
 CROSS JOIN LATERAL (
       SELECT i.id, i.finished_at, i.is_telling FROM workflow.workflow_instance AS i WHERE i.id = f.id LIMIT 1) AS m


-- name: list_past_children
-- doing: look for children
-- The children of an instance in the order of their numbers.
--
--   $1  whose
--   $2  those behind this number
--   $3  how many at most
SELECT {past_instance i}, true,
       (SELECT true FROM workflow.workflow_instance AS c WHERE c.parent = i.id LIMIT 1) IS NOT NULL,
       {is_held i}, {chain i}
  FROM workflow.workflow_instance AS i
 WHERE i.parent = $1::uuid AND i.seq > $2::bigint
 ORDER BY i.parent, i.seq
 LIMIT $3::bigint


-- name: list_begun_purges
-- doing: look for purges that were begun
-- Instances with a mark, the newest first.  There are few.
--
--   $1  how many at most
SELECT {past_instance i},
       (SELECT true FROM workflow.workflow_instance AS p WHERE p.id = i.parent LIMIT 1) IS NOT NULL,
       (SELECT true FROM workflow.workflow_instance AS c WHERE c.parent = i.id LIMIT 1) IS NOT NULL, false, {chain i}
  FROM workflow.workflow_purge AS g
 CROSS JOIN LATERAL (SELECT j.* FROM workflow.workflow_instance AS j WHERE j.id = g.id LIMIT 1) AS i
 ORDER BY i.seq DESC
 LIMIT $1::bigint


-- name: is_purge_begun
-- doing: look for a purge that was begun
--
--   $1  of which instance
SELECT EXISTS (SELECT FROM workflow.workflow_purge AS g WHERE g.id = $1::uuid)


-- name: mark_purges
-- doing: begin a purge
-- How many had no mark.
--
--   $1  ids
WITH made AS (
    INSERT INTO workflow.workflow_purge (id)
    SELECT given.id FROM unnest($1::uuid[]) AS given (id)
    ON CONFLICT (id) DO NOTHING
    RETURNING 1
)
SELECT count(*) FROM made


-- name: lock_past_jobs
-- doing: lock jobs
--
--   $1  ids
SELECT {past_job r}
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY ($1::uuid[])
 ORDER BY r.id
   FOR UPDATE SKIP LOCKED


-- name: lock_past_instances
-- doing: lock instances
--
--   $1  ids
SELECT {past_instance i}, false, false, i.is_telling, {chain i}
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY ($1::uuid[])
 ORDER BY i.id
   FOR UPDATE SKIP LOCKED


-- name: purge_jobs
-- Triggers remove their numbers and tags.
--
--   $1  ids
WITH loose AS (
    DELETE FROM workflow.workflow_event_loose AS e WHERE e.workflow_id = ANY ($1::uuid[])
), posts AS (
    DELETE FROM workflow.workflow_event_post AS p WHERE p.workflow_id = ANY ($1::uuid[])
)
DELETE FROM workflow.workflow_run AS r WHERE r.id = ANY ($1::uuid[])


-- name: purge_instances
-- Triggers remove their tags.
--
--   $1  ids
WITH steps AS (
    DELETE FROM workflow.workflow_step AS s WHERE s.instance_id = ANY ($1::uuid[])
), signals AS (
    DELETE FROM workflow.workflow_signal AS s WHERE s.instance_id = ANY ($1::uuid[])
), outbox AS (
    DELETE FROM workflow.workflow_outbox AS o WHERE o.instance_id = ANY ($1::uuid[])
), decisions AS (
    DELETE FROM workflow.workflow_human_decision AS d WHERE d.instance_id = ANY ($1::uuid[])
), dead AS (
    DELETE FROM workflow.workflow_dlq AS d WHERE d.instance_id = ANY ($1::uuid[])
), logs AS (
    DELETE FROM workflow.workflow_log AS l WHERE l.instance_id = ANY ($1::uuid[])
), children AS (
    DELETE FROM workflow.workflow_step_children AS c WHERE c.instance_id = ANY ($1::uuid[])
), elements AS (
    DELETE FROM workflow.workflow_map_elements AS e WHERE e.instance_id = ANY ($1::uuid[])
), marks AS (
    DELETE FROM workflow.workflow_purge AS g WHERE g.id = ANY ($1::uuid[])
), intake AS (
    DELETE FROM workflow.workflow_intake AS n WHERE n.instance_id = ANY ($1::uuid[])
), loose AS (
    DELETE FROM workflow.workflow_event_loose AS e WHERE e.workflow_id = ANY ($1::uuid[])
), posts AS (
    DELETE FROM workflow.workflow_event_post AS p WHERE p.workflow_id = ANY ($1::uuid[])
)
DELETE FROM workflow.workflow_instance AS i WHERE i.id = ANY ($1::uuid[])


-- name: purge_events
-- Removes chains of events.  A row of the log of which nothing is left goes; of others it is noted what is gone.
-- All chains are walked together, an event of each at a time, so that events of one row are found at once.
--
--   $1  the last events of the chains
--
-- The rows that are to be written anew, because less than a tenth of them is left.
WITH RECURSIVE walk (events) AS (
    SELECT $1::bigint[]
    UNION ALL
    SELECT before.events
      FROM walk
     CROSS JOIN LATERAL (
           SELECT array_agg(p.id) AS events
             FROM (SELECT e.id >> 12 AS log_id, array_agg(e.id) AS ids
                     FROM unnest(walk.events) AS e (id)
                    WHERE e.id > 0
                    GROUP BY e.id >> 12) AS g
            CROSS JOIN LATERAL (
                  SELECT o.prev || ''::bytea AS prev, o.slots   -- read once, instead of a part for each event
                    FROM workflow.workflow_event_log AS o
                   WHERE o.id = g.log_id
                     AND o.prev IS NOT NULL
                   LIMIT 1) AS l
            CROSS JOIN LATERAL (
                  SELECT workflow.event_prev(l.prev, workflow.event_place(l.slots, e.id)) AS id
                    FROM unnest(g.ids) AS e (id)
                  OFFSET 0) AS p
            WHERE p.id > 0) AS before
     WHERE before.events IS NOT NULL
), going AS MATERIALIZED (
    SELECT e.id >> 12 AS log_id, array_agg((e.id & 4095)::int) AS slots
      FROM walk
     CROSS JOIN LATERAL unnest(walk.events) AS e (id)
     WHERE e.id > 0
     GROUP BY e.id >> 12
), told AS MATERIALIZED (
    SELECT going.log_id, going.slots, coalesce(g.used, l.used) AS used,
           coalesce(g.used, l.used) - coalesce(cardinality(g.slots), 0) - cardinality(going.slots) AS rest
      FROM going
     CROSS JOIN LATERAL (
           SELECT workflow.event_used(o.ids, o.kinds) AS used
             FROM workflow.workflow_event_log AS o
            WHERE o.id = going.log_id
            LIMIT 1) AS l
      LEFT JOIN LATERAL (
           SELECT n.used, n.slots
             FROM workflow.workflow_event_gone AS n
            WHERE n.log_id = going.log_id
            LIMIT 1) AS g ON true
), dropped AS (
    DELETE FROM workflow.workflow_event_log AS o
     WHERE o.id = ANY (ARRAY(SELECT told.log_id FROM told WHERE told.rest <= 0))
), unmarked AS (
    DELETE FROM workflow.workflow_event_gone AS g
     WHERE g.log_id = ANY (ARRAY(SELECT told.log_id FROM told WHERE told.rest <= 0))
), marked AS (
    INSERT INTO workflow.workflow_event_gone AS g (log_id, used, slots)
    SELECT told.log_id, told.used, told.slots FROM told WHERE told.rest > 0
    ON CONFLICT (log_id) DO UPDATE SET slots = g.slots || excluded.slots
)
SELECT told.log_id FROM told WHERE told.rest > 0 AND told.rest * 10 < told.used


-- name: rewrite_event_logs
-- doing: purge events
-- Rows of the log with nothing but what is left of them.
--
--   $1  which
WITH kept AS (
    SELECT l.id, l.slot, workflow.event_subject(l.ids, l.place) AS subject,
           workflow.event_prev(l.prev, l.place) AS prev, l.types[l.kind] AS type, l.steps[l.kind] AS step,
           l.data[l.kind] AS data, row_number() OVER (PARTITION BY l.id ORDER BY l.slot) - 1 AS number
      FROM (SELECT o.id, o.ids, o.prev, o.types, o.steps, o.data, p.place,
                   workflow.event_slot(o.slots, p.place) AS slot, workflow.event_kind(o.kinds, p.place) AS kind
              FROM workflow.workflow_event_log AS o
             CROSS JOIN LATERAL generate_series(0::bigint, length(o.ids) / 16 - 1) AS p (place)
             WHERE o.id = ANY ($1::bigint[])
            OFFSET 0) AS l
     CROSS JOIN LATERAL (
           SELECT n.slots FROM workflow.workflow_event_gone AS n WHERE n.log_id = l.id LIMIT 1) AS g
     WHERE l.kind <= 65535
       AND l.slot <> ALL (g.slots)
), made AS MATERIALIZED (
    SELECT kept.id,
           string_agg(uuid_send(kept.subject), ''::bytea ORDER BY kept.slot) AS ids,
           string_agg(int8send(kept.prev), ''::bytea ORDER BY kept.slot) AS prev,
           string_agg(int2send(kept.number::smallint), ''::bytea ORDER BY kept.slot) AS kinds,
           array_agg(kept.type ORDER BY kept.slot) AS types,
           array_agg(kept.step ORDER BY kept.slot) AS steps,
           array_agg(kept.data ORDER BY kept.slot) AS data,
           string_agg(lpad(kept.slot::text, 4, '0') || ',', '' ORDER BY kept.slot) AS slots
      FROM kept
     GROUP BY kept.id
)
UPDATE workflow.workflow_event_log AS o
   SET (ids, prev, kinds, types, steps, data, slots) =       -- not FROM made, which might read the whole table
       (SELECT made.ids, made.prev, made.kinds, made.types, made.steps, made.data, made.slots FROM made WHERE made.id = o.id)
 WHERE o.id = ANY (ARRAY(SELECT made.id FROM made))


-- name: unmark_event_logs
-- doing: purge events
--
--   $1  which rows of the log
DELETE FROM workflow.workflow_event_gone AS g WHERE g.log_id = ANY ($1::bigint[])


-- name: keep_keys
-- doing: keep keys
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_key
       ({key.insert})
SELECT {key.values}
  FROM (SELECT {key.arrays insert}) AS given
ON CONFLICT (key, workflow, kind) DO UPDATE
   SET id = excluded.id, ended_at = excluded.ended_at


-- name: drop_keys
-- doing: forget keys
-- How many were forgotten.  One that is given another owner at the same time stays.  By the rows' places: a join might read
-- the whole table.  Walks idx_workflow_key_ended.
--
--   $1  of owners that ended before this
--   $2  how many at most
WITH gone AS (
    DELETE FROM workflow.workflow_key AS k
     WHERE k.ctid = ANY (ARRAY(
           SELECT o.ctid
             FROM workflow.workflow_key AS o
            WHERE o.ended_at < $1::timestamptz
            ORDER BY o.ended_at
            LIMIT $2::bigint))
    RETURNING 1
)
SELECT count(*) FROM gone


-- name: first_key
-- doing: look for old keys
-- When the first owner ended.
SELECT k.ended_at
  FROM workflow.workflow_key AS k
 ORDER BY k.ended_at
 LIMIT 1


-- name: drop_bulks
-- doing: purge bulk actions
-- How many were removed.  There are few.
--
--   $1  those that finished before this
--   $2  how many at most
WITH old AS MATERIALIZED (
    SELECT b.id
      FROM workflow.workflow_bulk AS b
     WHERE b.finished_at < $1::timestamptz
     ORDER BY b.seq
     LIMIT $2::bigint
), loose AS (
    DELETE FROM workflow.workflow_event_loose AS e WHERE e.workflow_id = ANY (ARRAY(SELECT old.id FROM old))
), gone AS (
    DELETE FROM workflow.workflow_bulk AS b WHERE b.id = ANY (ARRAY(SELECT old.id FROM old))
    RETURNING 1
)
SELECT count(*) FROM gone
