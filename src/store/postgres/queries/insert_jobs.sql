-- insert_jobs: new rows, in the order given, which becomes the order of seq.
--
--   $1..$20  arrays with a value for each row
--
-- Rows whose id or key is there already are left out.  Brings id and seq of those that are new.

INSERT INTO workflow.workflow_run
       (id, type, payload, idempotency_key, status, priority, attempt, max_attempts, is_ready,
        leased_by, lease_token, ended_by, ended_token, last_error, result, run_at, lease_until,
        created_at, updated_at, deleted_at)
SELECT id, type, coalesce(payload, '{}'), key, status, priority, attempt, max_attempts, is_ready,
       leased_by, lease_token, ended_by, ended_token, last_error, result, run_at, lease_until,
       created_at, updated_at, deleted_at
  FROM unnest($1::uuid[], $2::text[], $3::jsonb[], $4::text[], $5::text[], $6::int[],
              $7::int[], $8::int[], $9::boolean[], $10::text[], $11::text[], $12::text[],
              $13::text[], $14::text[], $15::jsonb[], $16::timestamptz[], $17::timestamptz[],
              $18::timestamptz[], $19::timestamptz[], $20::timestamptz[])
       WITH ORDINALITY
       AS given (id, type, payload, key, status, priority, attempt, max_attempts, is_ready,
                 leased_by, lease_token, ended_by, ended_token, last_error, result, run_at,
                 lease_until, created_at, updated_at, deleted_at, ordinal)
 ORDER BY ordinal
ON CONFLICT DO NOTHING
RETURNING id::text, seq
