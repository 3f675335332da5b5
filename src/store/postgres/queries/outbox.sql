-- name: append_outbox
-- doing: write outbox events
-- Events for others, in the order given.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_outbox
       ({outbox.insert})
SELECT {outbox.values}
  FROM (SELECT {outbox.arrays insert}) AS given


-- name: defer_outbox
-- doing: claim outbox events
-- Events of an instance whose oldest one somebody has are looked at again when that claim ends, so that claims until then pass
-- them by.  claimed_by NULL tells them from those that are claimed.
--
--   $1  now
--   $2  until when at most
--   $3  how many are looked at, of those that nobody has and of those whose time has come
--
-- How many there were.  Walks idx_workflow_outbox_fresh and idx_workflow_outbox_due, and asks
-- idx_workflow_outbox_instance for each.  If what they wait for is acknowledged at the same time they are found at that
-- time, and not at once.
WITH looked AS MATERIALIZED (
    (SELECT o.id, o.instance_id
       FROM workflow.workflow_outbox AS o
      WHERE o.acked_at IS NULL AND o.claimed_until IS NULL
      ORDER BY o.id
      LIMIT $3::bigint)
    UNION ALL
    (SELECT o.id, o.instance_id
       FROM workflow.workflow_outbox AS o
      WHERE o.acked_at IS NULL AND o.claimed_until <= $1::timestamptz
      ORDER BY o.claimed_until
      LIMIT $3::bigint)
), late AS MATERIALIZED (
    SELECT looked.id, w.until
      FROM looked
     CROSS JOIN LATERAL (
           SELECT head.claimed_until AS until
             FROM workflow.workflow_outbox AS head
            WHERE head.instance_id = looked.instance_id
              AND head.acked_at IS NULL
            ORDER BY head.id
            LIMIT 1) AS w
     WHERE w.until > $1::timestamptz
), mine AS MATERIALIZED (
    SELECT o.id
      FROM workflow.workflow_outbox AS o
     WHERE o.id = ANY (ARRAY(SELECT late.id FROM late))
       AND coalesce(o.acked_at, 'epoch') = 'epoch'
       AND (o.claimed_until IS NULL OR o.claimed_until <= $1::timestamptz)
       FOR NO KEY UPDATE SKIP LOCKED
), deferred AS (
    UPDATE workflow.workflow_outbox AS o
       SET claimed_by = NULL,
           claimed_until = least($2::timestamptz, (SELECT late.until FROM late WHERE late.id = o.id LIMIT 1))
     WHERE o.id = ANY (ARRAY(SELECT mine.id FROM mine))
    RETURNING 1
)
SELECT count(*) FROM deferred


-- name: claim_outbox
-- doing: claim outbox events
-- Hands out unacknowledged events in order of id.
--
--   $1  who claims
--   $2  now
--   $3  until when
--   $4  how many at most
--   $5  how many are looked at, of those that nobody has and of those whose time has come
--
-- Leaves out events behind a claimed one of the same instance, and behind one that is not among those that are looked at.
-- A claim of events of an instance
-- first locks the oldest that is not acknowledged: so two claims never share an instance, and
-- the second one reads, after the lock, what the first one has left.  Instances that others hold at
-- this moment are skipped.  Walks idx_workflow_outbox_fresh and idx_workflow_outbox_due.
WITH due AS MATERIALIZED (
    SELECT o.id, o.instance_id
      FROM workflow.workflow_outbox AS o
     WHERE o.acked_at IS NULL AND o.claimed_until <= $2::timestamptz
     ORDER BY o.claimed_until
     LIMIT $5::bigint
), candidate AS MATERIALIZED (
    (SELECT o.id
       FROM workflow.workflow_outbox AS o
      WHERE o.acked_at IS NULL AND o.claimed_until IS NULL
      ORDER BY o.id
      LIMIT $5::bigint)
    UNION
    SELECT due.id FROM due
    UNION
    SELECT head.id
      FROM (SELECT DISTINCT due.instance_id FROM due) AS d
     CROSS JOIN LATERAL (
           SELECT h.id
             FROM workflow.workflow_outbox AS h
            WHERE h.instance_id = d.instance_id
              AND h.acked_at IS NULL
            ORDER BY h.id
            LIMIT 1) AS head
), wanted AS MATERIALIZED (
    SELECT o.id, o.instance_id
      FROM candidate AS c
     CROSS JOIN LATERAL (
           SELECT w.id, w.instance_id, w.claimed_until
             FROM workflow.workflow_outbox AS w
            WHERE w.id = c.id
            LIMIT 1) AS o
     WHERE (o.claimed_until IS NULL OR o.claimed_until <= $2::timestamptz)
       AND (SELECT earlier.id       -- not EXISTS, which might be made a join of two scans
              FROM workflow.workflow_outbox AS earlier
             WHERE earlier.instance_id = o.instance_id
               AND earlier.id < o.id
               AND earlier.acked_at IS NULL
               AND (earlier.claimed_until > $2::timestamptz
                    OR earlier.id NOT IN (SELECT candidate.id FROM candidate))
             LIMIT 1) IS NULL
     ORDER BY o.id
     LIMIT $4::bigint
), mine AS MATERIALIZED (
    SELECT o.instance_id
      FROM (SELECT DISTINCT wanted.instance_id FROM wanted) AS w
     CROSS JOIN LATERAL (
           SELECT first.id
             FROM workflow.workflow_outbox AS first
            WHERE first.instance_id = w.instance_id
              AND first.acked_at IS NULL
            ORDER BY first.id
            LIMIT 1) AS oldest
      JOIN workflow.workflow_outbox AS o ON o.id = oldest.id
     WHERE coalesce(o.acked_at, 'epoch') = 'epoch'
       AND (o.claimed_until IS NULL OR o.claimed_until <= $2::timestamptz)
       FOR NO KEY UPDATE OF o SKIP LOCKED
), taken AS (
    UPDATE workflow.workflow_outbox AS o
       SET claimed_by    = $1::text,
           claimed_until = $3::timestamptz
      FROM (SELECT wanted.id
              FROM wanted
             WHERE wanted.instance_id = ANY (ARRAY(SELECT mine.instance_id FROM mine))) AS w
     WHERE o.id = w.id
       AND coalesce(o.acked_at, 'epoch') = 'epoch'
       AND (o.claimed_until IS NULL OR o.claimed_until <= $2::timestamptz)
    RETURNING o.*
)
SELECT {outbox.columns o}
  FROM taken AS o
 ORDER BY o.id


-- name: ack_outbox
-- doing: acknowledge an outbox event
-- An event has arrived, and all of its instance before it.
--
--   $1  id
--   $2  now
--
-- One row: 0, or the oldest event of the instance that must be acknowledged before, and nothing
-- was written.  No row if there is no such event.  Asks idx_workflow_outbox_instance.
WITH event AS MATERIALIZED (
    SELECT o.id,
           o.instance_id,
           o.acked_at,
           (SELECT earlier.id
              FROM workflow.workflow_outbox AS earlier
             WHERE earlier.instance_id = o.instance_id
               AND earlier.id < o.id
               AND earlier.acked_at IS NULL
             ORDER BY earlier.id
             LIMIT 1) AS earlier
      FROM workflow.workflow_outbox AS o
     WHERE o.id = $1::bigint
), acked AS (
    UPDATE workflow.workflow_outbox AS o
       SET acked_at = $2::timestamptz
      FROM event
     WHERE o.id = event.id
       AND event.acked_at IS NULL
       AND event.earlier IS NULL
), freed AS (
    UPDATE workflow.workflow_outbox AS o     -- what waited behind it; the next of them frees more
       SET claimed_until = NULL
     WHERE o.id = ANY (ARRAY(
           SELECT later.id
             FROM event
            CROSS JOIN LATERAL (
                  SELECT l.id, l.claimed_by, l.claimed_until
                    FROM workflow.workflow_outbox AS l
                   WHERE l.instance_id = event.instance_id
                     AND l.id > event.id
                     AND l.acked_at IS NULL
                   ORDER BY l.id
                   LIMIT 1000) AS later
            WHERE event.earlier IS NULL
              AND later.claimed_by IS NULL
              AND later.claimed_until IS NOT NULL))
)
SELECT CASE WHEN event.acked_at IS NULL THEN coalesce(event.earlier, 0) ELSE 0 END
  FROM event


-- name: list_outbox
-- doing: list outbox events
-- Events of an instance, oldest first; the last result is when they were acknowledged.
--
--   $1  instance
--   $2  only those after this one
--   $3  how many at most
SELECT {outbox.columns o}, o.acked_at
  FROM workflow.workflow_outbox AS o
 WHERE o.instance_id = $1::uuid
   AND o.id > $2::bigint
 ORDER BY o.id
 LIMIT $3::bigint


-- name: lock_outbox
-- doing: read an outbox event
-- An event for change; the last result is when it was acknowledged.
--
--   $1  id
--
-- One row or none.
SELECT {outbox.columns o}, o.acked_at
  FROM workflow.workflow_outbox AS o
 WHERE o.id = $1::bigint
   FOR NO KEY UPDATE


-- name: release_outbox
-- doing: give back an outbox event
-- Writes what a delivery that failed changes.
--
--   $1  id
--   $2  until when nobody may have it
--   $3, $4, $5  attempts, last_error, dead_at
--
-- Unless it is dead, later events of its instance are no longer claimed by the same process; and none waits any longer
-- behind it.  Asks idx_workflow_outbox_instance, as far as a claim reaches.
WITH event AS (
    UPDATE workflow.workflow_outbox AS o
       SET claimed_until = $2::timestamptz,
           attempts      = $3::int,
           last_error    = $4::text,
           dead_at       = $5::timestamptz,
           acked_at      = coalesce(o.acked_at, $5::timestamptz)
     WHERE o.id = $1::bigint
    RETURNING o.id, o.instance_id, o.claimed_by
)
UPDATE workflow.workflow_outbox AS later
   SET claimed_until = NULL
 WHERE later.id = ANY (ARRAY(
       SELECT l.id
         FROM event
        CROSS JOIN LATERAL (
              SELECT n.id, n.claimed_by, n.claimed_until
                FROM workflow.workflow_outbox AS n
               WHERE n.instance_id = event.instance_id
                 AND n.id > event.id
                 AND n.acked_at IS NULL
               ORDER BY n.id
               LIMIT 1000) AS l
        WHERE l.claimed_until IS NOT NULL
          AND (l.claimed_by IS NULL OR l.claimed_by = event.claimed_by AND $5::timestamptz IS NULL)))


-- name: list_open_outbox
-- doing: list outbox events
-- Events that are not acknowledged, oldest first; the last result is NULL.
--
--   $1  only those after this one
--   $2  how many at most
--
-- Walks idx_workflow_outbox_open.
SELECT {outbox.columns o}, o.acked_at
  FROM workflow.workflow_outbox AS o
 WHERE o.acked_at IS NULL
   AND o.id > $1::bigint
 ORDER BY o.id
 LIMIT $2::bigint


-- name: list_dead_outbox
-- doing: list outbox events
-- Events that were given up, oldest first; the last result is when.
--
--   $1  only those after this one
--   $2  how many at most
--
-- Walks idx_workflow_outbox_dead.
SELECT {outbox.columns o}, o.acked_at
  FROM workflow.workflow_outbox AS o
 WHERE o.dead_at IS NOT NULL
   AND o.id > $1::bigint
 ORDER BY o.id
 LIMIT $2::bigint
