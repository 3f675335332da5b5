-- lock_jobs: reads and locks rows, in order of id, leaving out those that somebody else holds.
--
--   $1  ids
--
-- The last column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.

WITH locked AS MATERIALIZED (
    SELECT r.seq, r.id::text, r.type, NULL::text AS payload, r.idempotency_key, r.status,
           r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
           r.ended_by, r.ended_token, r.last_error, NULL::text AS result, r.run_at,
           r.lease_until, r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
      FROM workflow.workflow_run AS r
     WHERE r.id = ANY ($1::uuid[])
     ORDER BY r.id
       FOR NO KEY UPDATE SKIP LOCKED
)
SELECT locked.*, clock_timestamp()
  FROM locked
 ORDER BY locked.id COLLATE "C"
