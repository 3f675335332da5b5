-- get_definition: one version, or the highest.
--
--   $1  name
--   $2  version; 0: the highest

SELECT d.name, d.version, d.hash, d.content::text, d.created_at
  FROM workflow.workflow_definition AS d
 WHERE d.name = $1::text
   AND ($2::int = 0 OR d.version = $2::int)
 ORDER BY d.version DESC
 LIMIT 1
