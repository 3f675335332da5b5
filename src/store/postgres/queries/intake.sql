-- name: find_intake
-- doing: find new starts
-- Starts that no engine has tried yet, oldest first, locked.
--
--   $1  how many at most
--
-- Walks idx_workflow_intake_untried.
SELECT {intake.columns i}
  FROM workflow.workflow_intake AS i
 WHERE i.instance_id IS NULL AND i.error IS NULL
 ORDER BY i.seq
 LIMIT $1::bigint
   FOR UPDATE SKIP LOCKED


-- name: delete_intake
-- doing: settle starts
-- Starts that were made.
--
--   $1  ids
DELETE FROM workflow.workflow_intake AS i
 WHERE i.id = ANY ($1::uuid[])


-- name: keep_intake
-- doing: settle starts
-- A start that could not be made, or whose key has another instance.
--
--   $1  id
--   $2  the other instance; NULL: none
--   $3  why it could not be made; NULL: it is the key
UPDATE workflow.workflow_intake AS i
   SET instance_id = $2::uuid,
       error = $3::text
 WHERE i.id = $1::uuid


-- name: get_intake
-- doing: read a start
-- One start.
--
--   $1  id
SELECT {intake.columns i}
  FROM workflow.workflow_intake AS i
 WHERE i.id = $1::uuid


-- name: list_stuck_intake
-- doing: list starts
-- Starts that could not be made, oldest first.
--
--   $1  how many at most
--
-- Reads the table: only what could not be made stays in it.
SELECT {intake.columns i}
  FROM workflow.workflow_intake AS i
 WHERE i.error IS NOT NULL
 ORDER BY i.seq
 LIMIT $1::bigint
