-- postpone_job: takes a job out of the claim index until its time has come.
--
--   :seq  which
--
-- For jobs that others inserted as ready with a run_at in the future.

UPDATE workflow_run
   SET is_ready = 0
 WHERE seq = :seq;
