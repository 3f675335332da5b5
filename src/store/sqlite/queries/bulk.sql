-- name: put_bulk
-- doing: write a bulk action
-- One, new or in place of the one with that id.
INSERT INTO workflow_bulk ({bulk.insert})
VALUES ({bulk.values})
ON CONFLICT (id) DO UPDATE
   SET {bulk.excluded};


-- name: get_bulk
-- doing: read a bulk action
-- One.
--
--   :id  which
SELECT {bulk.columns}
  FROM workflow_bulk
 WHERE id = :id;


-- name: take_bulk
-- doing: read a bulk action
-- The oldest one that this process may walk now.
--
--   :process  which
SELECT {bulk.columns}
  FROM workflow_bulk INDEXED BY idx_workflow_bulk_running
 WHERE status = 'running'
   AND next_at <= :now
   AND (locked_by IS NULL OR locked_by = :process OR locked_until <= :now)
 ORDER BY seq
 LIMIT 1;


-- name: next_bulk
-- doing: read bulk actions
-- When this process may walk one.
--
--   :process  which
SELECT min(CASE WHEN locked_by IS NULL OR locked_by = :process OR locked_until <= next_at THEN next_at
                ELSE locked_until END)
  FROM workflow_bulk INDEXED BY idx_workflow_bulk_running
 WHERE status = 'running';


-- name: list_bulks
-- doing: list bulk actions
-- The newest.
--
--   :room  how many at most
SELECT {bulk.columns}
  FROM workflow_bulk
 ORDER BY seq DESC
 LIMIT :room;
