-- count_instances: how many there are of each status that is not final.  Reads an index, not the
-- table, and nothing of what has ended.

SELECT i.status, count(*)
  FROM workflow.workflow_instance AS i
 WHERE i.status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
 GROUP BY i.status
