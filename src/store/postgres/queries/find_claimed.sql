-- find_claimed: the jobs leased under this worker and token, in the claim's order.
--
--   $1, $2  worker, token
--   $3      how many at most
--
-- Looks at what is leased now; asked only after a commit whose end nobody knew.

SELECT r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM workflow.workflow_run AS r
 WHERE r.status = 'leased'
   AND r.leased_by = $1::text
   AND r.lease_token = $2::text
 ORDER BY r.priority, r.seq
 LIMIT $3::bigint
