-- append_log: one line of an instance's log.
--
--   one parameter for each column, in the order in which flow_log.c writes them

INSERT INTO workflow_log (instance_id, level, step, attempt, at, message, data)
VALUES (:instance_id, :level, :step, :attempt, :at, :message, :data);
