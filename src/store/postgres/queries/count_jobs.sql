-- count_jobs: how many jobs wait, how many of them are due and since when, how many are leased.
--
--   $1  now
--
-- Reads the index of what is pending, not the table.

SELECT waiting.pending, waiting.ready, leased.count, waiting.oldest
  FROM (SELECT count(*) AS pending,
               count(*) FILTER (WHERE r.run_at <= $1::timestamptz) AS ready,
               min(r.run_at) FILTER (WHERE r.run_at <= $1::timestamptz) AS oldest
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND r.deleted_at IS NULL) AS waiting,
       (SELECT count(*)
          FROM workflow.workflow_run AS r
         WHERE r.status = 'leased') AS leased
