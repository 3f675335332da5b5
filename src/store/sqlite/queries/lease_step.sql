-- lease_step: gives a step to a worker.
--
--   :id           which
--   :worker       to whom
--   :token        what the worker will say with each report
--   :lease_until  when the lease lapses if it is not extended
--   :now          microseconds since 1970
--
-- A ready step runs now; one in compensation stays so.

UPDATE workflow_step
   SET status       = iif(status = 'ready', 'running', status),
       is_ready     = 0,
       locked_by    = :worker,
       token        = :token,
       locked_until = :lease_until,
       due_at       = :lease_until + 1,
       started_at   = coalesce(started_at, :now),
       updated_at   = :now
 WHERE id = :id;
