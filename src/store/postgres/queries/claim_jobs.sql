-- claim_jobs: leases what is due and matches, lowest (priority, seq) first.
--
--   $1..$4  ranges to read: type, lowest and highest priority, lowest (seq >> 8)
--   $5, $6  types to look for: from this one on, and before that one
--   $7  the claim's runtime; NULL: any
--   $8  now
--   $9  how many heads to look at
--   $10  how many to lease at most
--   $11, $12, $13  worker, token, end of the lease
--
-- Each row begins with how many heads there were: as many as $9 means that there may be more
-- behind them.  Then how many were locked: more than were leased means that some had changed since
-- this statement began, and that another may get them.  Then what mark.h wants to know: how long
-- the walk took in microseconds, where the open transactions begin, this transaction's own number (0
-- if it has none), the last seq given; and in the first row alone, of each of the ranges given that
-- is not empty, its number and the lowest (seq >> 8) found there.  At least one row; the columns of
-- the job are NULL if nothing was leased.
--
-- Walks idx_workflow_run_type_prefix alone: from one type to the next that has work, now or later
-- (one probe each), then the first rows of every type that are ready, in whole groups of those that
-- share a key there.
-- Locks only what it takes, and skips what others hold.  A row is read once by the index, and from
-- then on found where it lies (ctid).

WITH RECURSIVE walk (before, type) AS (
    SELECT g.before, first.type
      FROM unnest($5::text[], $6::text[]) AS g (first, before)
     CROSS JOIN LATERAL (
           SELECT r.type
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.deleted_at IS NULL
              AND r.type ~>=~ g.first AND r.type ~<~ g.before
            ORDER BY r.type USING ~<~
            LIMIT 1) AS first
    UNION ALL
    SELECT walk.before, next.type
      FROM walk
     CROSS JOIN LATERAL (
           SELECT r.type
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.deleted_at IS NULL
              AND r.type ~>~ walk.type AND r.type ~<~ walk.before
            ORDER BY r.type USING ~<~
            LIMIT 1) AS next
), range (number, type, lowest, highest, mark) AS (
    SELECT g.number, g.type COLLATE "C", greatest(g.lowest, -2147483648)::int,
           least(g.highest, 2147483647)::int, g.mark
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
           WITH ORDINALITY AS g (type, lowest, highest, mark, number)
    UNION ALL
    SELECT NULL, walk.type, -2147483648, 2147483647, 0 FROM walk
), found AS MATERIALIZED (
    SELECT range.number, h.place, h.priority, h.seq
      FROM range
     CROSS JOIN LATERAL (
           SELECT r.ctid AS place, r.priority, r.seq
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
              AND r.type = range.type
              AND r.priority >= range.lowest AND r.priority <= range.highest
              AND (r.seq >> 8) >= range.mark
              AND r.run_at <= $8::timestamptz
            ORDER BY r.priority, (r.seq >> 8)
            FETCH FIRST ($9::bigint) ROWS WITH TIES) AS h
     WHERE NOT EXISTS (
           SELECT
             FROM workflow.workflow_registry AS g
            WHERE g.workflow_name = range.type
              AND (NOT g.is_enabled OR g.runtime <> $7::text))
), head AS MATERIALIZED (
    SELECT found.place
      FROM found
     ORDER BY found.priority, found.seq
     LIMIT $9::bigint
), taken AS MATERIALIZED (
    -- In the order of the heads, one at a time, until there are enough.
    SELECT held.place
      FROM head
     CROSS JOIN LATERAL (
           SELECT r.ctid AS place
             FROM workflow.workflow_run AS r
            WHERE r.ctid = head.place
              AND r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL -- still claimable?
              AND r.run_at <= $8::timestamptz
              FOR NO KEY UPDATE SKIP LOCKED) AS held
     LIMIT $10::bigint
), leased AS (
    UPDATE workflow.workflow_run AS r
       SET status      = 'leased',
           is_ready    = false,
           leased_by   = $11::text,
           lease_token = $12::text,
           lease_until = $13::timestamptz,
           updated_at  = $8::timestamptz
      FROM taken
     WHERE r.ctid = taken.place
    RETURNING r.*
), looked AS MATERIALIZED (
    SELECT heads.count AS heads,
           (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS us
      FROM (SELECT count(*) FROM head) AS heads
)
SELECT looked.heads, (SELECT count(*) FROM taken), looked.us,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
       coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0),
       coalesce(pg_sequence_last_value('workflow.workflow_run_seq_seq'::regclass), 0),
       CASE WHEN row_number() OVER (ORDER BY r.priority, r.seq) = 1 THEN (
            SELECT string_agg(low.number || ' ' || low.key, ' ')
              FROM (SELECT found.number, min(found.seq) >> 8 AS key
                      FROM found
                     WHERE found.number IS NOT NULL
                     GROUP BY found.number) AS low) END,
       r.seq, r.id::text, r.type, r.payload::text, r.idempotency_key, r.status,
       r.priority, r.attempt, r.max_attempts, r.is_ready, r.leased_by, r.lease_token,
       r.ended_by, r.ended_token, r.last_error, r.result::text, r.run_at, r.lease_until,
       r.created_at, r.updated_at, r.deleted_at, r.ended_outcome
  FROM looked
  LEFT JOIN leased AS r ON true
 ORDER BY r.priority, r.seq
