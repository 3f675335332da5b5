-- name: find_intake
-- doing: find new starts
-- Starts that no engine has tried yet, oldest first.
--
--   :room  how many at most
--
-- Walks idx_workflow_intake_untried.
SELECT {intake.columns}
  FROM workflow_intake INDEXED BY idx_workflow_intake_untried
 WHERE instance_id IS NULL AND error IS NULL
 ORDER BY seq
 LIMIT :room;


-- name: delete_intake
-- doing: settle starts
-- A start that was made.
--
--   :id  which
DELETE FROM workflow_intake
 WHERE id = :id;


-- name: keep_intake
-- doing: settle starts
-- A start that could not be made, or whose key has another instance.
--
--   :id  which
UPDATE workflow_intake
   SET {intake.changes}
 WHERE id = :id;


-- name: get_intake
-- doing: read a start
-- One start.
--
--   :id  which
SELECT {intake.columns}
  FROM workflow_intake
 WHERE id = :id;


-- name: list_stuck_intake
-- doing: list starts
-- Starts that could not be made, oldest first.
--
--   :room  how many at most
--
-- Reads the table: only what could not be made stays in it.
SELECT {intake.columns}
  FROM workflow_intake
 WHERE error IS NOT NULL
 ORDER BY seq
 LIMIT :room;
