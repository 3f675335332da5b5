-- put_registry: an entry, new or in place of the one with that name.
--
--   :name, :intent_type, :runtime, :is_enabled, :description, :now

INSERT INTO workflow_registry (workflow_name, intent_type, runtime, is_enabled, description,
                               created_at, updated_at)
VALUES (:name, :intent_type, :runtime, :is_enabled, :description, :now, :now)
ON CONFLICT (workflow_name) DO UPDATE
   SET intent_type = excluded.intent_type,
       runtime     = excluded.runtime,
       is_enabled  = excluded.is_enabled,
       description = excluded.description,
       updated_at  = excluded.updated_at;
