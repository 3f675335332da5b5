-- name: put_registry
-- doing: write the registry
-- A new entry, or in place of the one of that name.
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


-- name: get_registry
-- doing: read the registry
-- One entry.
--
--   $1  workflow_name
SELECT g.workflow_name, g.intent_type, g.runtime, g.description, g.is_enabled, g.created_at,
       g.updated_at
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name = $1::text


-- name: list_registry
-- doing: list the registry
-- Entries in order of name.
--
--   $1  only names after this one
--   $2  how many at most
SELECT g.workflow_name, g.intent_type, g.runtime, g.description, g.is_enabled, g.created_at,
       g.updated_at
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name > $1::text
 ORDER BY g.workflow_name
 LIMIT $2::bigint


-- name: list_types
-- The types of unfinished jobs and of registry entries, in order.
--
--   $1  how many at most
--
-- Types with pending work are found by one probe each; leased rows are read.
WITH RECURSIVE walk (type) AS (
    (SELECT r.type
       FROM workflow.workflow_run AS r
      WHERE r.status = 'pending' AND r.deleted_at IS NULL
      ORDER BY r.type USING ~<~
      LIMIT 1)
    UNION ALL
    SELECT next.type
      FROM walk
     CROSS JOIN LATERAL (
           SELECT r.type
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.deleted_at IS NULL
              AND r.type ~>~ walk.type
            ORDER BY r.type USING ~<~
            LIMIT 1) AS next
)
SELECT walk.type FROM walk
UNION
SELECT r.type FROM workflow.workflow_run AS r WHERE r.status = 'leased' AND r.deleted_at IS NULL
UNION
SELECT g.workflow_name FROM workflow.workflow_registry AS g
 ORDER BY 1
 LIMIT $1::bigint
