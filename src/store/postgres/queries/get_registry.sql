-- get_registry: one entry.
--
--   $1  workflow_name

SELECT g.workflow_name, g.intent_type, g.runtime, g.description, g.is_enabled, g.created_at,
       g.updated_at
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name = $1::text
