-- ack_outbox: an event has been delivered.
--
--   :id   which
--   :now  microseconds since 1970
--
-- sqlite3_changes() says whether it exists.

UPDATE workflow_outbox
   SET acknowledged_at = coalesce(acknowledged_at, :now)
 WHERE id = :id;
