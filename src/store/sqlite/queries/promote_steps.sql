-- promote_steps: makes steps claimable whose time has come, the earliest first.
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
