-- name: append_events
-- doing: write events
-- Adds to the history, in the order given.
--
--   $1..  an array for each column; last the time of the transaction
INSERT INTO workflow.workflow_event
       ({event.insert})
SELECT {event.values}
  FROM (SELECT {event.arrays insert}) AS given


-- name: append_alike_events
-- doing: write events
-- Adds to the audit trail, in the order given, events of which many say the
-- same: their data are sent, and read, once.
--
--   $1..$3  arrays: instances, event types, steps
--   $4      array: which of the data, from 1
--   $5      array: the data; few, since one is reached by way of those before it
--   $6      when
INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, created_at)
SELECT given.workflow_id, given.event_type, given.step, ($5::jsonb[])[given.datum],
       $6::timestamptz
  FROM (SELECT unnest($1::uuid[]) AS workflow_id, unnest($2::text[]) AS event_type,
               unnest($3::text[]) AS step, unnest($4::int[]) AS datum) AS given



-- name: list_events
-- What happened to an instance or a job, oldest first.
--
--   $1  instance
--   $2  only events after this id
--   $3  how many at most
SELECT {event.columns e}
  FROM workflow.workflow_event AS e
 WHERE e.workflow_id = $1::uuid
   AND e.id > $2::bigint
 ORDER BY e.id
 LIMIT $3::bigint


-- name: settled_event
-- doing: list events
-- Up to which id no open transaction can still add an event.
--
-- A writer says with a shared advisory lock, before it takes its first id, up to which id it will
-- write nothing (event_before_write in 0002_workflows).  So of the ids given out until now, those
-- that are not above such a mark belong to transactions that have ended, and a statement that
-- begins after this one sees them.  The order matters: first the last id given out, then the locks,
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
--   $2  and up to this one, which settled_event brought
--   $3  how many at most
SELECT {event.columns e}
  FROM workflow.workflow_event AS e
 WHERE e.id > $1::bigint
   AND e.id <= $2::bigint
 ORDER BY e.id
 LIMIT $3::bigint
