-- list_definitions: in order of name, then version.
--
--   $1, $2  only those after this name and version
--   $3      how many at most

SELECT d.name, d.version, d.hash, d.content::text, d.created_at
  FROM workflow.workflow_definition AS d
 WHERE (d.name, d.version) > ($1::text, $2::int)
 ORDER BY d.name, d.version
 LIMIT $3::bigint
