-- count_instances: how many there are of each status.
--
-- Rows (status, count).  What is completed is what is left: all of them are counted by their
-- pages, without reading a row.

SELECT status, count(*)
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status <> 'completed'
 GROUP BY status
UNION ALL
SELECT 'completed',
       (SELECT count(*) FROM workflow_instance) -
       (SELECT count(*)
          FROM workflow_instance INDEXED BY idx_workflow_instance_status
         WHERE status <> 'completed');
