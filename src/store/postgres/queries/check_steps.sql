-- check_steps: the first step of one type and rank that can be claimed, of a part of the index.
--
--   $1, $2  type, rank: (version << 7) | priority
--   $3, $4  from this next_run_at on, and before that one, in microseconds since 1970; 0 is before
--           everything, NULL included
--
-- One row: its next_run_at likewise, NULL for none; how long the walk took in microseconds.  Walks
-- idx_workflow_step_ready.

SELECT CASE WHEN $3::bigint = 0 AND EXISTS (
                 SELECT
                   FROM workflow.workflow_step AS s
                  WHERE s.is_ready
                    AND s.task_type = $1::text COLLATE "C"
                    AND s.version = ($2::bigint >> 7)::int
                    AND s.priority = ($2::bigint & 127)::int
                    AND s.next_run_at IS NULL)
            THEN 0
            ELSE (SELECT (extract(epoch FROM greatest(s.next_run_at, 'epoch')) * 1000000)::bigint
                    FROM workflow.workflow_step AS s
                   WHERE s.is_ready
                     AND s.task_type = $1::text COLLATE "C"
                     AND s.version = ($2::bigint >> 7)::int
                     AND s.priority = ($2::bigint & 127)::int
                     AND s.next_run_at >= CASE WHEN $3::bigint = 0 THEN '-infinity'
                             ELSE timestamptz 'epoch' + $3::bigint * interval '1 microsecond' END
                     AND s.next_run_at
                         < timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
                   ORDER BY s.next_run_at NULLS FIRST
                   LIMIT 1)
       END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
