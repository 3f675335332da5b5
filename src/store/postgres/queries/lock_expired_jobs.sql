-- lock_expired_jobs: reads and locks rows whose lease has run out, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest end to look at
--
-- Walks idx_workflow_run_leased.

SELECT r.seq, r.id::text, r.type, NULL::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, NULL::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM workflow.workflow_run AS r
 WHERE r.status = 'leased'
   AND r.lease_until >= $3::timestamptz AND r.lease_until < $1::timestamptz
 ORDER BY r.lease_until
 LIMIT $2::bigint
   FOR NO KEY UPDATE SKIP LOCKED
