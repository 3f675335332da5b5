-- count_instances: how many there are of each status that is not final.
--
-- Rows (status, count).  The second condition says nothing new, but lets SQLite see that the
-- index holds all of them.

SELECT status, count(*)
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
   AND status <> 'completed'
 GROUP BY status;
