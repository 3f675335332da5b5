-- next_flow_due: when the next timer of a workflow is due.
--
--   $1..$8  which times to look at, from and to: of retries, leases, waits, delayed starts
--
-- One row: the earliest of each, NULL for none, followed by the microseconds since the statement
-- began.  One look at the head of each index of timers, whose conditions are repeated here word for
-- word.

SELECT (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL AND NOT s.is_held
           AND s.status IN ('ready', 'compensation')
           AND s.due_at >= $1::timestamptz AND s.due_at <= $2::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
           AND s.due_at >= $3::timestamptz AND s.due_at <= $4::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT s.due_at
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
           AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
           AND s.due_at >= $5::timestamptz AND s.due_at <= $6::timestamptz
         ORDER BY s.due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT i.start_at
          FROM workflow.workflow_instance AS i
         WHERE i.status = 'pending' AND i.start_at IS NOT NULL
           AND i.start_at >= $7::timestamptz AND i.start_at <= $8::timestamptz
         ORDER BY i.start_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
