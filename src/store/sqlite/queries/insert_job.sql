-- insert_job: one new job, unless its id or its key is known.
--
--   one parameter for each column; see the table
--
-- No row comes back; sqlite3_changes() says whether it was inserted.

INSERT INTO workflow_run (id, type, payload, status, priority, run_at, idempotency_key, attempt,
                          max_attempts, leased_by, lease_until, last_error, result, created_at,
                          updated_at, deleted_at, is_ready, lease_token, ended_by, ended_token,
                          ended_outcome)
VALUES (:id, :type, :payload, :status, :priority, :run_at, :key, :attempt,
        :max_attempts, :leased_by, :lease_until, :last_error, :result, :created_at,
        :updated_at, :deleted_at, :is_ready, :token, :ended_by, :ended_token,
        :ended_outcome)
ON CONFLICT DO NOTHING;
