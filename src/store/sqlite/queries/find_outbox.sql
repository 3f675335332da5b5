-- find_outbox: what may be delivered now, in order.
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
