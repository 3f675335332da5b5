-- update_job: writes what may change of a job that was read in this transaction.
--
--   :seq     which
--   :result  NULL keeps what is there
--   and one parameter for each other column that may change

UPDATE workflow_run
   SET status      = :status,
       is_ready    = :is_ready,
       run_at      = :run_at,
       attempt     = :attempt,
       leased_by   = :leased_by,
       lease_until = :lease_until,
       lease_token = :token,
       ended_by    = :ended_by,
       ended_token = :ended_token,
       ended_outcome = :ended_outcome,
       last_error  = :last_error,
       result      = coalesce(:result, result),
       updated_at  = :updated_at,
       deleted_at  = :deleted_at
 WHERE seq = :seq;
