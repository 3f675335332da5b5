-- name: put_bulk
-- doing: write a bulk action
-- One, new or in place of the one with that id.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_bulk
       ({bulk.insert})
SELECT {bulk.values}
  FROM (SELECT {bulk.arrays insert}) AS given
ON CONFLICT (id) DO UPDATE
   SET {bulk.excluded}


-- name: get_bulk
-- doing: read a bulk action
-- One.
--
--   $1  id
SELECT {bulk.columns b}
  FROM workflow.workflow_bulk AS b
 WHERE b.id = $1::uuid


-- name: lock_bulk
-- doing: read a bulk action
-- One, for change.
--
--   $1  id
SELECT {bulk.columns b}
  FROM workflow.workflow_bulk AS b
 WHERE b.id = $1::uuid
   FOR UPDATE


-- name: take_bulk
-- doing: read a bulk action
-- The oldest one that a process may walk now, for change.
--
--   $1  process
--   $2  now
SELECT {bulk.columns b}
  FROM workflow.workflow_bulk AS b
 WHERE b.status = 'running'
   AND b.next_at <= $2::timestamptz
   AND (b.locked_by IS NULL OR b.locked_by = $1::text OR b.locked_until <= $2::timestamptz)
 ORDER BY b.seq
 LIMIT 1
   FOR UPDATE SKIP LOCKED


-- name: next_bulk
-- doing: read bulk actions
-- When a process may walk one.
--
--   $1  process
SELECT min(CASE WHEN b.locked_by IS NULL OR b.locked_by = $1::text OR b.locked_until <= b.next_at
                THEN b.next_at ELSE b.locked_until END)
  FROM workflow.workflow_bulk AS b
 WHERE b.status = 'running'


-- name: list_bulks
-- doing: list bulk actions
-- The newest.
--
--   $1  how many at most
SELECT {bulk.columns b}
  FROM workflow.workflow_bulk AS b
 ORDER BY b.seq DESC
 LIMIT $1::bigint
