-- insert_jobs: new rows, in the order given, which becomes the order of seq.
--
--   $1..$20  arrays with a value for each row
--
-- Rows whose id or key is there already are left out.  Brings id and seq of those that are new.

INSERT INTO workflow.workflow_run
       (id, type, payload, idempotency_key, status, priority, attempt, max_attempts, is_ready,
        leased_by, lease_token, ended_by, ended_token, last_error, result, run_at, lease_until,
        created_at, updated_at, deleted_at, ended_outcome)
SELECT id, type, coalesce(payload, '{}'), key, status, priority, attempt, max_attempts, is_ready,
       leased_by, lease_token, ended_by, ended_token, last_error, result, run_at, lease_until,
       created_at, updated_at, deleted_at, ended_outcome
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS type,
               unnest($3::jsonb[]) AS payload, unnest($4::text[]) AS key,
               unnest($5::text[]) AS status, unnest($6::int[]) AS priority,
               unnest($7::int[]) AS attempt, unnest($8::int[]) AS max_attempts,
               unnest($9::boolean[]) AS is_ready, unnest($10::text[]) AS leased_by,
               unnest($11::text[]) AS lease_token, unnest($12::text[]) AS ended_by,
               unnest($13::text[]) AS ended_token, unnest($14::text[]) AS last_error,
               unnest($15::jsonb[]) AS result, unnest($16::timestamptz[]) AS run_at,
               unnest($17::timestamptz[]) AS lease_until,
               unnest($18::timestamptz[]) AS created_at,
               unnest($19::timestamptz[]) AS updated_at,
               unnest($20::timestamptz[]) AS deleted_at,
               unnest($21::text[]) AS ended_outcome) AS given
ON CONFLICT DO NOTHING
RETURNING id::text, seq
