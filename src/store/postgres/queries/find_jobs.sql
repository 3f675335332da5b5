-- find_jobs: which of these rows are there at all, in order of id.
--
--   $1  ids

SELECT r.id::text
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY ($1::uuid[])
 ORDER BY r.id
