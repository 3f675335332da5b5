-- name: promote_jobs
-- doing: make due jobs ready
-- Makes jobs claimable whose time has come, the earliest first.
--
--   :now    microseconds since 1970
--   :limit  how many at most
--
-- sqlite3_changes() says how many.  Walks idx_workflow_run_scheduled.
UPDATE workflow_run
   SET is_ready = 1
 WHERE seq IN (SELECT seq
                 FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                  AND run_at <= :now
                ORDER BY run_at, seq
                LIMIT :limit);


-- name: promote_steps
-- doing: make due steps ready
-- Makes steps claimable whose time has come, the earliest first.
--
--   :now    microseconds since 1970
--   :limit  how many at most
--
-- sqlite3_changes() says how many.  Walks idx_workflow_step_scheduled.
UPDATE workflow_step
   SET is_ready = 1,
       due_at   = NULL
 WHERE id IN (SELECT id
                FROM workflow_step INDEXED BY idx_workflow_step_scheduled
               WHERE due_at IS NOT NULL AND locked_by IS NULL AND is_held = 0
                 AND status IN ('ready', 'compensation')
                 AND due_at <= :now
               ORDER BY due_at, id
               LIMIT :limit);


-- name: find_due_steps
-- Steps that a timer must look at, the earliest first: leases that have run
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


-- name: find_due_instances
-- doing: find instances to start
-- Pending instances whose time has come, the earliest first.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- Walks idx_workflow_instance_start.
SELECT id
  FROM workflow_instance INDEXED BY idx_workflow_instance_start
 WHERE status = 'pending'
   AND start_at <= :now
 ORDER BY start_at, seq
 LIMIT :room;


-- name: next_due
-- doing: find the next timer
-- When the next timers are due: of jobs, and of workflows.
--
--   :now  microseconds since 1970
--
-- One row of two instants, NULL for never.  A job's lease has run out one microsecond after its
-- last, one without an end long ago.  Of workflows, a start that plain SQL has written, relatives
-- that are to be told and a schedule's waiting run that can start are due now.  One probe of each index of timers.
SELECT (SELECT min(due)
          FROM (SELECT (SELECT run_at
                          FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                         WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                         ORDER BY run_at
                         LIMIT 1) AS due
                UNION ALL
                SELECT (SELECT ifnull(lease_until, 0) + 1
                          FROM workflow_run INDEXED BY idx_workflow_run_leased
                         WHERE status = 'leased'
                         ORDER BY lease_until
                         LIMIT 1))),
       (SELECT min(due)
          FROM (SELECT (SELECT due_at
                          FROM workflow_step INDEXED BY idx_workflow_step_leased
                         WHERE locked_by IS NOT NULL AND due_at IS NOT NULL
                         ORDER BY due_at
                         LIMIT 1) AS due
                UNION ALL
                SELECT (SELECT due_at
                          FROM workflow_step INDEXED BY idx_workflow_step_scheduled
                         WHERE due_at IS NOT NULL AND locked_by IS NULL AND is_held = 0
                           AND status IN ('ready', 'compensation')
                         ORDER BY due_at
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT due_at
                          FROM workflow_step INDEXED BY idx_workflow_step_timer
                         WHERE due_at IS NOT NULL AND locked_by IS NULL
                           AND (is_held = 1 OR status NOT IN ('ready', 'compensation'))
                         ORDER BY due_at
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT start_at
                          FROM workflow_instance INDEXED BY idx_workflow_instance_start
                         WHERE status = 'pending' AND start_at IS NOT NULL
                         ORDER BY start_at
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT due_at
                          FROM workflow_schedule INDEXED BY idx_workflow_schedule_due
                         WHERE due_at IS NOT NULL
                         ORDER BY due_at
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT :now
                          FROM workflow_schedule AS s INDEXED BY idx_workflow_schedule_waiting
                         WHERE s.waiting_at IS NOT NULL AND s.is_paused = 0
                           AND NOT EXISTS (SELECT 1
                        FROM workflow_schedule_run AS run INDEXED BY idx_workflow_schedule_run_open
                       WHERE run.is_open = 1 AND run.schedule = s.name
                         AND (EXISTS (SELECT 1
                                        FROM workflow_run AS job
                                       WHERE job.id = run.run_id AND job.status IN ('pending', 'leased')
                                         AND job.deleted_at IS NULL)
                              OR EXISTS (SELECT 1
                                           FROM workflow_instance AS i
                                          WHERE i.id = run.run_id
                                            AND i.status NOT IN ('completed', 'failed', 'cancelled', 'aborted'))))
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT :now
                          FROM workflow_intake INDEXED BY idx_workflow_intake_untried
                         WHERE instance_id IS NULL AND error IS NULL
                         LIMIT 1)
                UNION ALL
                SELECT (SELECT :now
                          FROM workflow_instance INDEXED BY idx_workflow_instance_telling
                         WHERE is_telling = 1
                         LIMIT 1)));


-- name: count_expired
-- doing: count expired leases
-- How many leases of jobs and steps have run out and were not taken back yet; one
-- without an end has run out.
--
--   :now  microseconds since 1970
SELECT (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'
           AND lease_until IS NULL) +
       (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'
           AND lease_until < :now) +
       (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL
           AND due_at <= :now);
