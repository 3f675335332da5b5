-- check_timers: the earliest timer of one kind in a part of its index.
--
--   $1  which: 0 jobs for later, 1 leases of jobs, 2 retries of steps, 3 their leases, 4 waits and
--       sleeps, 5 delayed starts
--   $2, $3  from this time on, and before that one
--
-- One row: the time, NULL for none; the microseconds that it took.

SELECT CASE $1::int
           WHEN 0 THEN (SELECT r.run_at
                       FROM workflow.workflow_run AS r
                      WHERE r.status = 'pending' AND NOT r.is_ready
                        AND r.run_at >= $2::timestamptz AND r.run_at < $3::timestamptz
                      ORDER BY r.run_at
                      LIMIT 1)
           WHEN 1 THEN (SELECT r.lease_until
                       FROM workflow.workflow_run AS r
                      WHERE r.status = 'leased'
                        AND r.lease_until >= $2::timestamptz AND r.lease_until < $3::timestamptz
                      ORDER BY r.lease_until
                      LIMIT 1)
           WHEN 2 THEN (SELECT s.due_at
                       FROM workflow.workflow_step AS s
                      WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
                        AND s.status IN ('ready', 'compensation')
                        AND s.due_at >= $2::timestamptz AND s.due_at < $3::timestamptz
                      ORDER BY s.due_at
                      LIMIT 1)
           WHEN 3 THEN (SELECT s.due_at
                       FROM workflow.workflow_step AS s
                      WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
                        AND s.due_at >= $2::timestamptz AND s.due_at < $3::timestamptz
                      ORDER BY s.due_at
                      LIMIT 1)
           WHEN 4 THEN (SELECT s.due_at
                       FROM workflow.workflow_step AS s
                      WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
                        AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
                        AND s.due_at >= $2::timestamptz AND s.due_at < $3::timestamptz
                      ORDER BY s.due_at
                      LIMIT 1)
           WHEN 5 THEN (SELECT i.start_at
                       FROM workflow.workflow_instance AS i
                      WHERE i.status = 'pending' AND i.start_at IS NOT NULL
                        AND i.start_at >= $2::timestamptz AND i.start_at < $3::timestamptz
                      ORDER BY i.start_at
                      LIMIT 1)
       END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
