-- update_jobs: writes what may change of rows that this transaction has locked.
--
--   $1..$14  arrays with a value for each row; a result of NULL leaves the old one

UPDATE workflow.workflow_run AS r
   SET status      = given.status,
       attempt     = given.attempt,
       is_ready    = given.is_ready,
       leased_by   = given.leased_by,
       lease_token = given.lease_token,
       ended_by    = given.ended_by,
       ended_token = given.ended_token,
       last_error  = given.last_error,
       result      = coalesce(given.result, r.result),
       run_at      = given.run_at,
       lease_until = given.lease_until,
       updated_at  = given.updated_at,
       deleted_at  = given.deleted_at
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::boolean[], $5::text[], $6::text[],
              $7::text[], $8::text[], $9::text[], $10::jsonb[], $11::timestamptz[],
              $12::timestamptz[], $13::timestamptz[], $14::timestamptz[])
       AS given (id, status, attempt, is_ready, leased_by, lease_token, ended_by, ended_token,
                 last_error, result, run_at, lease_until, updated_at, deleted_at)
 WHERE r.id = given.id
