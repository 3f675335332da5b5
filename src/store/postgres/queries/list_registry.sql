-- list_registry: entries in order of name.
--
--   $1  only names after this one
--   $2  how many at most

SELECT g.workflow_name, g.intent_type, g.runtime, g.description, g.is_enabled, g.created_at,
       g.updated_at
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name > $1::text
 ORDER BY g.workflow_name
 LIMIT $2::bigint
