-- name: put_registry
-- doing: write the registry
-- A new entry, or in place of the one of that name, whose created_at stays.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_registry AS g
       ({registry.insert})
SELECT {registry.values}
  FROM (SELECT {registry.arrays insert}) AS given
ON CONFLICT (workflow_name) DO UPDATE
   SET {registry.excluded}


-- name: get_registry
-- doing: read the registry
-- One entry.
--
--   $1  workflow_name
SELECT {registry.columns g}
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name = $1::text


-- name: list_registry
-- doing: list the registry
-- Entries in order of name.
--
--   $1  only names after this one
--   $2  how many at most
SELECT {registry.columns g}
  FROM workflow.workflow_registry AS g
 WHERE g.workflow_name > $1::text
 ORDER BY g.workflow_name
 LIMIT $2::bigint


-- name: list_types
-- The types of unfinished jobs and of registry entries, in order.
--
--   $1  how many at most
--   $2  only types with jobs that can be claimed
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
SELECT walk.type
  FROM walk
 WHERE NOT $2::boolean
    OR EXISTS (SELECT 1
                 FROM workflow.workflow_run AS r
                WHERE r.status = 'pending' AND r.deleted_at IS NULL
                  AND r.type = walk.type AND r.is_ready)
UNION
SELECT r.type
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids)
                           FROM workflow.workflow_run_lease AS l
                          WHERE NOT $2::boolean))
   AND r.status = 'leased' AND r.deleted_at IS NULL
UNION
SELECT g.workflow_name FROM workflow.workflow_registry AS g WHERE NOT $2::boolean
 ORDER BY 1
 LIMIT $1::bigint
