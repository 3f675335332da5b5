-- find_due_steps: whose lease, wait, sleep or decision is over, the earliest first; not locked.
--
--   $1  now
--   $2  how many at most
--   $3, $4  the earliest times to look at, of leases and of the others
--
-- Walks idx_workflow_step_leased and idx_workflow_step_timer, whose conditions are repeated here
-- word for word.

SELECT due.instance_id::text, due.seq
  FROM ((SELECT s.instance_id, s.seq, s.due_at
           FROM workflow.workflow_step AS s
          WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
            AND s.due_at >= $3::timestamptz AND s.due_at <= $1::timestamptz
          ORDER BY s.due_at
          LIMIT $2::bigint)
        UNION ALL
        (SELECT s.instance_id, s.seq, s.due_at
           FROM workflow.workflow_step AS s
          WHERE s.due_at IS NOT NULL AND s.locked_by IS NULL
            AND (s.is_held OR s.status NOT IN ('ready', 'compensation'))
            AND s.due_at >= $4::timestamptz AND s.due_at <= $1::timestamptz
          ORDER BY s.due_at
          LIMIT $2::bigint)) AS due
 ORDER BY due.due_at, due.instance_id, due.seq
 LIMIT $2::bigint
