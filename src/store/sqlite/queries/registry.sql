-- name: put_registry
-- doing: write to the registry
-- An entry, new or in place of the one with that name.
INSERT INTO workflow_registry ({registry.insert})
VALUES ({registry.values})
ON CONFLICT (workflow_name) DO UPDATE
   SET {registry.excluded};


-- name: get_registry
-- doing: read the registry
-- One entry.
--
--   :name  which
SELECT {registry.columns}
  FROM workflow_registry
 WHERE workflow_name = :name;


-- name: list_registry
-- doing: list the registry
-- Entries in order of name.
--
--   :after  names greater than this
--   :room   how many at most
SELECT {registry.columns}
  FROM workflow_registry
 WHERE workflow_name > :after
 ORDER BY workflow_name
 LIMIT :room;


-- name: list_types
-- Types of unfinished jobs and of registry entries, in order.
--
--   :is_ready  1: only types with jobs that can be claimed; 0: all
--   :room      how many at most
--   :most      how many jobs for later are looked at
--
-- Leaps through idx_workflow_run_claim from type to type.
WITH RECURSIVE ready (type) AS (
    SELECT (SELECT min(type)
              FROM workflow_run INDEXED BY idx_workflow_run_claim
             WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL)
    UNION ALL
    SELECT (SELECT min(later.type)
              FROM workflow_run AS later INDEXED BY idx_workflow_run_claim
             WHERE later.status = 'pending' AND later.is_ready = 1
               AND later.deleted_at IS NULL AND later.type > ready.type)
      FROM ready
     WHERE ready.type IS NOT NULL
)
SELECT type FROM ready WHERE type IS NOT NULL
UNION
SELECT type
  FROM (SELECT type
          FROM workflow_run INDEXED BY idx_workflow_run_scheduled
         WHERE NOT :is_ready AND status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
         LIMIT :most)
UNION
SELECT type
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE NOT :is_ready AND status = 'leased'
UNION
SELECT workflow_name
  FROM workflow_registry
 WHERE NOT :is_ready
 ORDER BY 1
 LIMIT :room;
