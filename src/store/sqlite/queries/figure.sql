-- name: put_figure
-- doing: write figures
-- A row, new or in place of the one of its type, resolution, time and process.
INSERT INTO workflow_figure ({figure.insert})
VALUES ({figure.values})
ON CONFLICT (type, resolution, at, process) DO UPDATE
   SET {figure.excluded};


-- name: find_figures
-- doing: read figures
-- Rows of a time.
--
--   :resolution     of this one
--   :from, :before  from <= at < before
--   :room           how many at most
SELECT {figure.columns}
  FROM workflow_figure INDEXED BY idx_workflow_figure_at
 WHERE resolution = :resolution
   AND at >= :from AND at < :before
 ORDER BY at, type, process
 LIMIT :room;


-- name: drop_figures
-- doing: remove figures
-- Those that find_figures finds.
--
--   :room  how many at most; -1: all
DELETE FROM workflow_figure
 WHERE (type, resolution, at, process) IN
       (SELECT type, resolution, at, process
          FROM workflow_figure INDEXED BY idx_workflow_figure_at
         WHERE resolution = :resolution
           AND at >= :from AND at < :before
         ORDER BY at, type, process
         LIMIT :room);


-- name: oldest_figure
-- doing: read figures
-- The earliest time.
--
--   :resolution  of this one
--   :before      earlier than this
SELECT at
  FROM workflow_figure INDEXED BY idx_workflow_figure_at
 WHERE resolution = :resolution
   AND at < :before
 ORDER BY at
 LIMIT 1;


-- name: list_figures
-- doing: read figures
-- Rows of a type, from a time on.
--
--   :type  which
--   :from  not before this
--   :room  how many at most
SELECT {figure.columns}
  FROM workflow_figure
 WHERE type = :type
   AND resolution IN (60, 600, 3600)
   AND at >= :from
 LIMIT :room;
