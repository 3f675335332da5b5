-- find_outbox_earlier: why ack_outbox did nothing.
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
