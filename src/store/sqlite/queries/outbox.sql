-- name: append_outbox
-- doing: append to the outbox
-- One event for others to hear of.
INSERT INTO workflow_outbox ({outbox.insert})
VALUES ({outbox.values});


-- name: defer_outbox
-- doing: find outbox events
-- Events of an instance whose oldest one somebody has are looked at again when that claim ends, so that claims until then pass
-- them by.  claimed_by NULL tells them from those that are claimed.
--
--   :now   microseconds since 1970
--   :most  no later than this
--   :room  how many are looked at, of those that nobody has and of those whose time has come
--
-- sqlite3_changes() says how many there were.  Walks idx_workflow_outbox_fresh and idx_workflow_outbox_due, and asks
-- idx_workflow_outbox_instance for each.
UPDATE workflow_outbox AS late
   SET claimed_by = NULL,
       claimed_until = min(:most, (SELECT head.claimed_until
                                     FROM workflow_outbox AS head INDEXED BY idx_workflow_outbox_instance
                                    WHERE head.acknowledged_at IS NULL
                                      AND head.instance_id = late.instance_id
                                    ORDER BY head.id
                                    LIMIT 1))
 WHERE late.id IN (SELECT id FROM (SELECT id
                                     FROM workflow_outbox INDEXED BY idx_workflow_outbox_fresh
                                    WHERE acknowledged_at IS NULL
                                      AND claimed_until IS NULL
                                    ORDER BY id
                                    LIMIT :room)
                    UNION ALL
                   SELECT id FROM (SELECT id
                                     FROM workflow_outbox INDEXED BY idx_workflow_outbox_due
                                    WHERE acknowledged_at IS NULL
                                      AND claimed_until <= :now
                                    ORDER BY claimed_until
                                    LIMIT :room))
   AND (SELECT head.claimed_until
          FROM workflow_outbox AS head INDEXED BY idx_workflow_outbox_instance
         WHERE head.acknowledged_at IS NULL
           AND head.instance_id = late.instance_id
         ORDER BY head.id
         LIMIT 1) > :now;


-- name: find_outbox
-- doing: find outbox events
-- What may be delivered now, in order.
--
--   :now    microseconds since 1970
--   :looks  how many are looked at, of those that nobody has and of those whose time has come
--   :room   how many at most
--
-- Of an instance the oldest comes first: an event is left out if one before it is not among those that are looked at.
-- Walks idx_workflow_outbox_fresh and idx_workflow_outbox_due, and asks idx_workflow_outbox_instance for each.
WITH fresh AS MATERIALIZED (
    SELECT id, instance_id
      FROM workflow_outbox INDEXED BY idx_workflow_outbox_fresh
     WHERE acknowledged_at IS NULL
       AND claimed_until IS NULL
     ORDER BY id
     LIMIT :looks
), due AS MATERIALIZED (
    SELECT id, instance_id
      FROM workflow_outbox INDEXED BY idx_workflow_outbox_due
     WHERE acknowledged_at IS NULL
       AND claimed_until <= :now
     ORDER BY claimed_until
     LIMIT :looks
), candidate AS MATERIALIZED (
    SELECT id FROM fresh
     UNION
    SELECT id FROM due
     UNION
    SELECT (SELECT min(head.id)
              FROM workflow_outbox AS head INDEXED BY idx_workflow_outbox_instance
             WHERE head.acknowledged_at IS NULL
               AND head.instance_id = due.instance_id)
      FROM due
)
SELECT {outbox.columns}
  FROM workflow_outbox AS outbox
 WHERE id IN (SELECT id FROM candidate)
   AND (claimed_until IS NULL OR claimed_until <= :now)
   AND NOT EXISTS (SELECT 1
                     FROM workflow_outbox AS earlier INDEXED BY idx_workflow_outbox_instance
                    WHERE earlier.acknowledged_at IS NULL
                      AND earlier.instance_id = outbox.instance_id
                      AND earlier.id < outbox.id
                      AND (earlier.claimed_until > :now
                           OR earlier.id NOT IN (SELECT id FROM candidate)))
 ORDER BY id
 LIMIT :room;


-- name: claim_outbox
-- doing: claim an outbox event
-- Gives an event to a worker that delivers it.
UPDATE workflow_outbox
   SET {outbox.changes}
 WHERE id = :id;


-- name: ack_outbox
-- doing: acknowledge an outbox event
-- An event has been delivered, and all of its instance before it.
--
--   :id   which
--   :now  microseconds since 1970
--
-- sqlite3_changes() says whether it was done; find_outbox_earlier says why it was not.
UPDATE workflow_outbox AS outbox
   SET acknowledged_at = coalesce(acknowledged_at, :now)
 WHERE id = :id
   AND (acknowledged_at IS NOT NULL
        OR NOT EXISTS (SELECT 1
                         FROM workflow_outbox AS earlier
                              INDEXED BY idx_workflow_outbox_instance
                        WHERE earlier.acknowledged_at IS NULL
                          AND earlier.instance_id = outbox.instance_id
                          AND earlier.id < outbox.id));


-- name: free_outbox
-- doing: acknowledge an outbox event
-- What waited behind an event that is acknowledged waits no longer.
--
--   :id    which
--   :room  how many at most; the next of them frees more
--
-- Walks idx_workflow_outbox_instance.
UPDATE workflow_outbox
   SET claimed_until = NULL
 WHERE id IN (SELECT later.id
                FROM workflow_outbox AS later INDEXED BY idx_workflow_outbox_instance
               WHERE later.acknowledged_at IS NULL
                 AND later.instance_id = (SELECT instance_id FROM workflow_outbox WHERE id = :id)
                 AND later.id > :id
               ORDER BY later.id
               LIMIT :room)
   AND claimed_by IS NULL;


-- name: find_outbox_earlier
-- doing: find an outbox event
-- Why ack_outbox did nothing.
--
--   :id  the event that was not acknowledged
--
-- One row, the id of the oldest event of its instance that is not acknowledged; none if the event
-- does not exist.  Walks idx_workflow_outbox_instance.
SELECT (SELECT min(earlier.id)
          FROM workflow_outbox AS earlier INDEXED BY idx_workflow_outbox_instance
         WHERE earlier.acknowledged_at IS NULL
           AND earlier.instance_id = outbox.instance_id)
  FROM workflow_outbox AS outbox
 WHERE outbox.id = :id;


-- name: find_oldest_outbox
-- doing: look at the outbox
-- When the first event came that is not acknowledged.
--
-- One row, or none.  Walks idx_workflow_outbox_open.
SELECT created_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_open
 WHERE acknowledged_at IS NULL
 ORDER BY id
 LIMIT 1;


-- name: list_outbox
-- doing: list outbox events
-- Events of an instance, oldest first; the last result is when they were acknowledged.
--
--   :instance_id  whose
--   :after        only those after this one
--   :room         how many at most
--
-- Walks idx_workflow_outbox_list.
SELECT {outbox.columns}, acknowledged_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_list
 WHERE instance_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: lock_outbox
-- doing: read an outbox event
-- An event for change; the last result is when it was acknowledged.
--
--   :id  which
--
-- One row or none.  BEGIN IMMEDIATE has locked it already.
SELECT {outbox.columns}, acknowledged_at
  FROM workflow_outbox
 WHERE id = :id;


-- name: release_outbox
-- doing: give back an outbox event
-- Writes what a delivery that failed changes.
UPDATE workflow_outbox
   SET {outbox.changes},
       acknowledged_at = coalesce(acknowledged_at, :dead_at)
 WHERE id = :id;


-- name: release_outbox_later
-- doing: give back outbox events
-- Later events of an instance are no longer claimed by the same process, and wait no longer behind the first.
--
--   :id, :instance_id, :claimed_by  of the first
--
-- Walks idx_workflow_outbox_instance, as far as a claim reaches.
UPDATE workflow_outbox
   SET claimed_until = NULL
 WHERE id IN (SELECT later.id
                FROM workflow_outbox AS later INDEXED BY idx_workflow_outbox_instance
               WHERE later.acknowledged_at IS NULL
                 AND later.instance_id = :instance_id
                 AND later.id > :id
               ORDER BY later.id
               LIMIT 1000)
   AND (claimed_by IS NULL OR claimed_by = :claimed_by);


-- name: list_open_outbox
-- doing: list outbox events
-- Events that are not acknowledged, oldest first; the last result is NULL.
--
--   :after  only those after this one
--   :room   how many at most
--
-- Walks idx_workflow_outbox_open.
SELECT {outbox.columns}, acknowledged_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_open
 WHERE acknowledged_at IS NULL
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: list_dead_outbox
-- doing: list outbox events
-- Events that were given up, oldest first; the last result is when.
--
--   :after  only those after this one
--   :room   how many at most
--
-- Walks idx_workflow_outbox_dead.
SELECT {outbox.columns}, acknowledged_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_dead
 WHERE dead_at IS NOT NULL
   AND id > :after
 ORDER BY id
 LIMIT :room;
