-- name: put_total
-- doing: write totals
-- A row, new or in place of the one of its process, kind and name.
INSERT INTO workflow_total ({total.insert})
VALUES ({total.values})
ON CONFLICT (process, kind, name) DO UPDATE
   SET {total.excluded};


-- name: find_gone_totals
-- doing: read totals
-- Rows that were last written before a time.
--
--   :before  this one
--   :room    how many at most
--
-- Reads the table, which has few rows.
SELECT {total.columns}
  FROM workflow_total
 WHERE process > '' AND written_at < :before
 ORDER BY process, kind, name
 LIMIT :room;


-- name: drop_gone_totals
-- doing: remove totals
-- Those that find_gone_totals finds.
--
--   :before  last written before this
--   :room    how many at most
DELETE FROM workflow_total
 WHERE (process, kind, name) IN
       (SELECT process, kind, name
          FROM workflow_total
         WHERE process > '' AND written_at < :before
         ORDER BY process, kind, name
         LIMIT :room);


-- name: list_totals
-- doing: read totals
-- All rows.
--
--   :room  how many at most
SELECT {total.columns}
  FROM workflow_total
 ORDER BY first_at, kind, name, process
 LIMIT :room;
