-- find_instances: which of these rows are there at all, in order of id.
--
--   $1  ids

SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY ($1::uuid[])
 ORDER BY i.id
