-- name: append_outbox
-- One event for others to hear of.
--
--   one parameter for each column; see the table
INSERT INTO workflow_outbox (instance_id, step, event, created_at, claimed_by, claimed_until,
                             payload)
VALUES (:instance_id, :step, :event, :created_at, :claimed_by, :claimed_until,
        :payload);


-- name: find_outbox
-- What may be delivered now, in order.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- An event that is claimed and not acknowledged holds back what comes after it in its instance.
-- Walks idx_workflow_outbox_open, and asks idx_workflow_outbox_instance for each.
SELECT id, instance_id, step, event, payload, created_at
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
-- Gives an event to whoever delivers it.
--
--   :id      which
--   :worker  to whom
--   :until   for how long
UPDATE workflow_outbox
   SET claimed_by    = :worker,
       claimed_until = :until
 WHERE id = :id;


-- name: ack_outbox
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
-- When the first event came that is not acknowledged.
--
-- One row, or none.  Walks idx_workflow_outbox_open.
SELECT created_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_open
 WHERE acknowledged_at IS NULL
 ORDER BY id
 LIMIT 1;
