-- put_registry: a new entry, or in place of the one of that name.
--
--   $1..$5  workflow_name, intent_type, runtime, description, is_enabled
--   $6, $7  created_at (of a new one), updated_at

INSERT INTO workflow.workflow_registry AS g
       (workflow_name, intent_type, runtime, description, is_enabled, created_at, updated_at)
VALUES ($1::text, $2::text, $3::text, $4::text, $5::boolean, $6::timestamptz, $7::timestamptz)
ON CONFLICT (workflow_name) DO UPDATE
   SET intent_type = excluded.intent_type,
       runtime     = excluded.runtime,
       description = excluded.description,
       is_enabled  = excluded.is_enabled,
       updated_at  = excluded.updated_at
