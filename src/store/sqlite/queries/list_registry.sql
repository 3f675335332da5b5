-- list_registry: entries in order of name.
--
--   :after  names greater than this
--   :room   how many at most

SELECT workflow_name, intent_type, runtime, is_enabled, description, created_at, updated_at
  FROM workflow_registry
 WHERE workflow_name > :after
 ORDER BY workflow_name
 LIMIT :room;
