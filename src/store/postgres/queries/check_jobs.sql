-- check_jobs: the first row of one type and priority that can be claimed, of a part of the index.
--
--   $1, $2  type, priority
--   $3, $4  from this (seq >> 8) on, and before that one
--
-- One row: its (seq >> 8), NULL for none; how long the walk took in microseconds.  Walks
-- idx_workflow_run_type_prefix.

SELECT (SELECT r.seq >> 8
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
           AND r.type = $1::text COLLATE "C"
           AND r.priority = $2::int
           AND (r.seq >> 8) >= $3::bigint AND (r.seq >> 8) < $4::bigint
         ORDER BY (r.seq >> 8)
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
