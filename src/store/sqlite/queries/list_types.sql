-- list_types: types of unfinished jobs and of registry entries, in order.
--
--   :room  how many at most
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
  FROM workflow_run INDEXED BY idx_workflow_run_scheduled
 WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
UNION
SELECT type
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
UNION
SELECT workflow_name
  FROM workflow_registry
 ORDER BY 1
 LIMIT :room;
