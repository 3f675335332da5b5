-- list_types: the types of unfinished jobs and of registry entries, in order.
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
