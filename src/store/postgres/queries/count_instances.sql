-- count_instances: how many there are of each status.  Reads an index, not the table.

SELECT i.status, count(*)
  FROM workflow.workflow_instance AS i
 GROUP BY i.status
