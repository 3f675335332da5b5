-- name: put_figures
-- doing: write figures
-- Rows, new or in place of those of their type, resolution, time and process.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_figure
       ({figure.insert})
SELECT {figure.values}
  FROM (SELECT {figure.arrays insert}) AS given
ON CONFLICT (type, resolution, at, process) DO UPDATE
   SET {figure.excluded}


-- name: take_figures
-- doing: read figures
-- Rows of a time, which are removed.
--
--   $1  resolution
--   $2  from this time
--   $3  to before this one
--   $4  how many at most
WITH found AS (
    SELECT f.type, f.resolution, f.at, f.process
      FROM workflow.workflow_figure AS f
     WHERE f.resolution = $1::int
       AND f.at >= $2::timestamptz AND f.at < $3::timestamptz
     ORDER BY f.at, f.type, f.process
     LIMIT $4::bigint
       FOR UPDATE SKIP LOCKED
)
DELETE FROM workflow.workflow_figure AS f
 USING found
 WHERE f.type = found.type AND f.resolution = found.resolution
   AND f.at = found.at AND f.process = found.process
RETURNING {figure.columns f}


-- name: drop_figures
-- doing: remove figures
-- Those before a time.
--
--   $1  resolution
--   $2  before this time
DELETE FROM workflow.workflow_figure
 WHERE resolution = $1::int
   AND at < $2::timestamptz


-- name: oldest_figure
-- doing: read figures
-- The earliest time.
--
--   $1  resolution
--   $2  before this time
SELECT f.at
  FROM workflow.workflow_figure AS f
 WHERE f.resolution = $1::int
   AND f.at < $2::timestamptz
 ORDER BY f.at
 LIMIT 1


-- name: list_figures
-- doing: read figures
-- Rows of a type, from a time on.
--
--   $1  type
--   $2  from this time
--   $3  how many at most
--
-- Only the primary key has this order.  Without it the planner would take the index of times, in which the rows of one type
-- stand among those of all others.
SELECT {figure.columns few}
  FROM unnest('{60,600,3600}'::int[]) AS r (resolution)
 CROSS JOIN LATERAL (
       SELECT f.*
         FROM workflow.workflow_figure AS f
        WHERE f.type = $1::text
          AND f.resolution = r.resolution
          AND f.at >= $2::timestamptz
        ORDER BY f.type, f.resolution, f.at, f.process) AS few
 LIMIT $3::bigint
