-- find_oldest_outbox: when the first event came that is not acknowledged.
--
-- One row, or none.  Walks idx_workflow_outbox_open.

SELECT created_at
  FROM workflow_outbox INDEXED BY idx_workflow_outbox_open
 WHERE acknowledged_at IS NULL
 ORDER BY id
 LIMIT 1;
