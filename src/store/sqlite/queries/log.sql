-- name: append_log
-- doing: append to a log
-- One line of an instance's log.
INSERT INTO workflow_log ({log.insert})
VALUES ({log.values});


-- name: list_logs
-- doing: list a log
-- What an instance has logged, oldest first.
--
--   :instance_id  whose
--   :after        lines later than the one with this id
--   :room         how many at most
--
-- Walks idx_workflow_log_instance.
SELECT {log.columns}
  FROM workflow_log INDEXED BY idx_workflow_log_instance
 WHERE instance_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;
