-- list_jobs_by_key: the same for one key, found by its index.
--
--   $1..$5  as in list_jobs
--   $6      key

SELECT r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM workflow.workflow_run AS r
 WHERE r.idempotency_key = $6::text
   AND r.deleted_at IS NULL
   AND r.seq < $4::bigint
   AND ($1::text IS NULL OR r.status = $1::text)
   AND ($2::text IS NULL OR r.type = $2::text)
   AND ($3::text IS NULL OR starts_with(r.type, $3::text))
 LIMIT $5::bigint
