-- settled_event: up to which id no open transaction can still add an event.
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
