-- name: put_totals
-- doing: write totals
-- Rows, new or in place of those of their process, kind and name.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_total
       ({total.insert})
SELECT {total.values}
  FROM (SELECT {total.arrays insert}) AS given
ON CONFLICT (process, kind, name) DO UPDATE
   SET {total.excluded}


-- name: take_totals
-- doing: read totals
-- Rows that were last written before a time, which are removed.
--
--   $1  this time
--   $2  how many at most
--
-- None while another transaction has taken some: the lock is held until its end.
WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(426836062831) AS is_ours
), found AS (
    SELECT t.process, t.kind, t.name
      FROM workflow.workflow_total AS t
     WHERE t.process > '' AND t.written_at < $1::timestamptz
       AND (SELECT turn.is_ours FROM turn)
     ORDER BY t.process, t.kind, t.name
     LIMIT $2::bigint
       FOR UPDATE SKIP LOCKED
)
DELETE FROM workflow.workflow_total AS t
 USING found
 WHERE t.process = found.process AND t.kind = found.kind AND t.name = found.name
RETURNING {total.columns t}


-- name: list_totals
-- doing: read totals
-- All rows.
--
--   $1  how many at most
SELECT {total.columns t}
  FROM workflow.workflow_total AS t
 ORDER BY t.first_at, t.kind, t.name, t.process
 LIMIT $1::bigint


-- name: measure
-- doing: measure the database
-- The size of the database.
SELECT pg_database_size(current_database())
