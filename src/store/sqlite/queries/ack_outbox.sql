-- ack_outbox: an event has been delivered, and all of its instance before it.
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
