-- lease_job: gives a job to a worker.
--
--   :seq          which
--   :worker       to whom
--   :token        what the worker will say with each report
--   :lease_until  when the lease lapses if it is not extended
--   :now          microseconds since 1970

UPDATE workflow_run
   SET status      = 'leased',
       is_ready    = 0,
       leased_by   = :worker,
       lease_until = :lease_until,
       lease_token = :token,
       updated_at  = :now
 WHERE seq = :seq;
