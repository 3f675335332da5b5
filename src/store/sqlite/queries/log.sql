-- name: append_log
-- One line of an instance's log.
--
--   one parameter for each column, in the order in which flow_log.c writes them
INSERT INTO workflow_log (instance_id, level, step, attempt, at, message, data)
VALUES (:instance_id, :level, :step, :attempt, :at, :message, :data);


-- name: list_logs
-- What an instance has logged, oldest first.
--
--   :instance_id  whose
--   :after        lines later than the one with this id
--   :room         how many at most
--
-- Walks idx_workflow_log_instance.
SELECT id, instance_id, level, step, attempt, at, message, data
  FROM workflow_log INDEXED BY idx_workflow_log_instance
 WHERE instance_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;
