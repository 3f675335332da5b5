-- claim_jobs: leases what is due and matches, lowest (priority, seq) first.
--
--   $1  exact types
--   $2  prefixes, without their %
--   $3  the claim's runtime; NULL: any
--   $4  now
--   $5  how many heads to look at
--   $6  how many to lease at most
--   $7, $8, $9  worker, token, end of the lease
--
-- Each row begins with how many heads there were: as many as $5 means that there may be more
-- behind them.  At least one row; the columns of the job are NULL if nothing was leased.
--
-- Walks idx_workflow_run_type_prefix alone: from one type to the next that has work, now or later
-- (one probe each), then the first rows of every type that are ready, in whole groups of those that
-- share a key there.
-- Locks only what it takes, and skips what others hold.

WITH RECURSIVE walk (prefix, type) AS (
    SELECT p.prefix, first.type
      FROM unnest($2::text[]) AS p (prefix)
     CROSS JOIN LATERAL (
           SELECT r.type
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.deleted_at IS NULL
              AND r.type ~>=~ p.prefix
            ORDER BY r.type USING ~<~
            LIMIT 1) AS first
     WHERE starts_with(first.type, p.prefix)
    UNION ALL
    SELECT walk.prefix, next.type
      FROM walk
     CROSS JOIN LATERAL (
           SELECT r.type
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.deleted_at IS NULL
              AND r.type ~>~ walk.type
            ORDER BY r.type USING ~<~
            LIMIT 1) AS next
     WHERE starts_with(next.type, walk.prefix)
), matching (type) AS (
    SELECT e.type COLLATE "C" FROM unnest($1::text[]) AS e (type)
    UNION
    SELECT walk.type FROM walk
), head AS MATERIALIZED (
    SELECT h.priority, h.seq
      FROM matching
     CROSS JOIN LATERAL (
           SELECT r.priority, r.seq
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
              AND r.type = matching.type
              AND r.run_at <= $4::timestamptz
            ORDER BY r.priority, (r.seq >> 8)
            FETCH FIRST ($5::bigint) ROWS WITH TIES) AS h
     WHERE NOT EXISTS (
           SELECT
             FROM workflow.workflow_registry AS g
            WHERE g.workflow_name = matching.type
              AND (NOT g.is_enabled OR g.runtime <> $3::text))
     ORDER BY h.priority, h.seq
     LIMIT $5::bigint
), taken AS MATERIALIZED (
    SELECT r.seq
      FROM head
      JOIN workflow.workflow_run AS r ON r.seq = head.seq
     -- Still claimable?  The row is found by its seq: || '' keeps the planner from thinking of
     -- the partial indexes, which it would prefer while they are nearly empty.
     WHERE r.status || '' = 'pending' AND r.is_ready AND r.deleted_at IS NULL
       AND r.run_at <= $4::timestamptz
     ORDER BY head.priority, head.seq
     LIMIT $6::bigint
       FOR NO KEY UPDATE OF r SKIP LOCKED
), leased AS (
    UPDATE workflow.workflow_run AS r
       SET status      = 'leased',
           is_ready    = false,
           leased_by   = $7::text,
           lease_token = $8::text,
           lease_until = $9::timestamptz,
           updated_at  = $4::timestamptz
      FROM taken
     WHERE r.seq = taken.seq
    RETURNING r.*
)
SELECT looked.count, r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM (SELECT count(*) FROM head) AS looked
  LEFT JOIN leased AS r ON true
 ORDER BY r.priority, r.seq
