-- list_jobs: newest first, deleted ones left out.
--
--   $1  status; NULL: any
--   $2  exact type; NULL: any
--   $3  prefix; NULL: any
--   $4  only rows before this seq
--   $5  how many at most

SELECT r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM workflow.workflow_run AS r
 WHERE r.deleted_at IS NULL
   AND r.seq < $4::bigint
   AND ($1::text IS NULL OR r.status = $1::text)
   AND ($2::text IS NULL OR r.type = $2::text)
   AND ($3::text IS NULL OR starts_with(r.type, $3::text))
 ORDER BY r.seq DESC
 LIMIT $5::bigint
