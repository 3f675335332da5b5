-- find_due_steps: steps that a timer must look at, the earliest first: leases that have run
-- out, waits, sleeps, decisions.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- Rows (id of the instance, seq).  Merges idx_workflow_step_leased and idx_workflow_step_timer.

SELECT (SELECT instance.id
          FROM workflow_instance AS instance
         WHERE instance.seq = due.id >> 20),
       due.id & 1048575
  FROM (SELECT due_at, id
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL
           AND due_at <= :now
         UNION ALL
        SELECT due_at, id
          FROM workflow_step INDEXED BY idx_workflow_step_timer
         WHERE due_at IS NOT NULL AND locked_by IS NULL
           AND (is_held = 1 OR status NOT IN ('ready', 'compensation'))
           AND due_at <= :now
         ORDER BY 1, 2
         LIMIT :room) AS due;
