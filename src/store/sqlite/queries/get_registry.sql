-- get_registry: one entry.
--
--   :name  which

SELECT workflow_name, intent_type, runtime, is_enabled, description, created_at, updated_at
  FROM workflow_registry
 WHERE workflow_name = :name;
