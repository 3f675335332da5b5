-- get_job: one row, deleted or not.
--
--   $1  id

SELECT r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM workflow.workflow_run AS r
 WHERE r.id = $1::uuid
