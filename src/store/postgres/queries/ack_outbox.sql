-- ack_outbox: an event has arrived, and all of its instance before it.
--
--   $1  id
--   $2  now
--
-- One row: 0, or the oldest event of the instance that must be acknowledged before, and nothing
-- was written.  No row if there is no such event.  Asks idx_workflow_outbox_instance.

WITH event AS MATERIALIZED (
    SELECT o.id,
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
)
SELECT CASE WHEN event.acked_at IS NULL THEN coalesce(event.earlier, 0) ELSE 0 END
  FROM event
