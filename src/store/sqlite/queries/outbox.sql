-- name: append_outbox
-- doing: append to the outbox
-- One event for others to hear of.
INSERT INTO workflow_outbox ({outbox.insert})
VALUES ({outbox.values});


-- name: find_outbox
-- doing: find outbox events
-- What may be delivered now, in order.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- An event that is claimed and not acknowledged holds back what comes after it in its instance.
-- Walks idx_workflow_outbox_open, and asks idx_workflow_outbox_instance for each.
SELECT {outbox.columns}
  FROM workflow_outbox AS outbox INDEXED BY idx_workflow_outbox_open
 WHERE acknowledged_at IS NULL
   AND (claimed_until IS NULL OR claimed_until <= :now)
   AND NOT EXISTS (SELECT 1
                     FROM workflow_outbox AS earlier INDEXED BY idx_workflow_outbox_instance
                    WHERE earlier.acknowledged_at IS NULL
                      AND earlier.instance_id = outbox.instance_id
                      AND earlier.id < outbox.id
                      AND earlier.claimed_until > :now)
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
-- Later events of an instance are no longer claimed by the same process.
--
--   :id, :instance_id, :claimed_by  of the first
--
-- Walks idx_workflow_outbox_instance.
UPDATE workflow_outbox INDEXED BY idx_workflow_outbox_instance
   SET claimed_until = NULL
 WHERE acknowledged_at IS NULL
   AND instance_id = :instance_id
   AND id > :id
   AND claimed_by = :claimed_by;


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
