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
       deleted_at  = given.deleted_at,
       ended_outcome = given.ended_outcome
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS status,
               unnest($3::int[]) AS attempt, unnest($4::boolean[]) AS is_ready,
               unnest($5::text[]) AS leased_by, unnest($6::text[]) AS lease_token,
               unnest($7::text[]) AS ended_by, unnest($8::text[]) AS ended_token,
               unnest($9::text[]) AS last_error, unnest($10::jsonb[]) AS result,
               unnest($11::timestamptz[]) AS run_at, unnest($12::timestamptz[]) AS lease_until,
               unnest($13::timestamptz[]) AS updated_at,
               unnest($14::timestamptz[]) AS deleted_at,
               unnest($15::text[]) AS ended_outcome) AS given
 WHERE r.id = given.id
