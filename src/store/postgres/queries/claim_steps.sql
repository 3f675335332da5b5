-- claim_steps: leases what is ready and matches, highest effective priority first.
--
--   $1  exact types
--   $2  prefixes, without their %
--   $3  the claim's runtime; NULL: any
--   $4  now
--   $5  how many heads to look at
--   $6  how many to lease at most
--   $7, $8, $9  worker, token, end of the lease
--   $10  how many points a second of waiting is worth
--
-- Each row begins with how many heads there were: as many as $5 means that there may be more
-- behind them.  At least one row; the columns of the step are NULL if nothing was leased.
--
-- Waiting raises a priority up to 100, whole points at a time.  Within one type and priority the
-- earliest leads whatever the rate, so the first rows of each pair are all that can win.  Walks
-- idx_workflow_step_ready alone: from one pair that has work to the next (one probe each, at most
-- 101 a type), then the first rows of every pair.  Locks only what it takes, and skips what others
-- hold.

WITH RECURSIVE walk (prefix, type, priority) AS (
    SELECT p.prefix, first.task_type, first.priority
      FROM (SELECT e.prefix COLLATE "C" FROM unnest($2::text[]) AS e (prefix)) AS p (prefix)
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type >= p.prefix
            ORDER BY s.task_type, s.priority
            LIMIT 1) AS first
     WHERE starts_with(first.task_type, p.prefix)
    UNION ALL
    SELECT walk.prefix, next.task_type, next.priority
      FROM walk
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND (s.task_type, s.priority) > (walk.type, walk.priority)
            ORDER BY s.task_type, s.priority
            LIMIT 1) AS next
     WHERE starts_with(next.task_type, walk.prefix)
), walk_exact (type, priority) AS (
    SELECT e.type, first.priority
      FROM (SELECT x.type COLLATE "C" FROM unnest($1::text[]) AS x (type)) AS e (type)
     CROSS JOIN LATERAL (
           SELECT s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = e.type
            ORDER BY s.priority
            LIMIT 1) AS first
    UNION ALL
    SELECT walk_exact.type, next.priority
      FROM walk_exact
     CROSS JOIN LATERAL (
           SELECT s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = walk_exact.type
              AND s.priority > walk_exact.priority
            ORDER BY s.priority
            LIMIT 1) AS next
), matching (type, priority) AS (
    SELECT walk.type, walk.priority FROM walk
    UNION
    SELECT walk_exact.type, walk_exact.priority FROM walk_exact
), head AS MATERIALIZED (
    SELECT h.instance_id, h.seq, h.instance_seq, h.next_run_at, h.effective
      FROM matching
     CROSS JOIN LATERAL (
           SELECT s.instance_id, s.seq, s.instance_seq, s.next_run_at,
                  -- core/aging.h has the formula; the microseconds are exact.
                  least(100, s.priority + floor(
                      (extract(epoch FROM $4::timestamptz - coalesce(s.next_run_at, 'epoch'))
                       * 1000000)::float8 * $10::float8 / 1e6)) AS effective
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = matching.type
              AND s.priority = matching.priority
            ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT $5::bigint) AS h
     WHERE NOT EXISTS (
           SELECT
             FROM workflow.workflow_registry AS g
            WHERE g.workflow_name = matching.type
              AND (NOT g.is_enabled OR g.runtime <> $3::text))
     ORDER BY h.effective DESC, h.next_run_at NULLS FIRST, h.instance_seq, h.seq
     LIMIT $5::bigint
), taken AS MATERIALIZED (
    SELECT s.instance_id, s.seq, head.effective
      FROM head
      JOIN workflow.workflow_step AS s ON s.instance_id = head.instance_id AND s.seq = head.seq
     -- Still claimable?  The row is found by its key: the cast keeps the planner from thinking of
     -- the partial index, which it would prefer while that is nearly empty.
     WHERE s.is_ready::int = 1
     ORDER BY head.effective DESC, head.next_run_at NULLS FIRST, head.instance_seq, head.seq
     LIMIT $6::bigint
       FOR NO KEY UPDATE OF s SKIP LOCKED
), leased AS (
    UPDATE workflow.workflow_step AS s
       SET status       = CASE s.status WHEN 'ready' THEN 'running' ELSE s.status END,
           is_ready     = false,
           locked_by    = $7::text,
           token        = $8::text,
           locked_until = $9::timestamptz,
           due_at       = $9::timestamptz + interval '1 microsecond',
           started_at   = coalesce(s.started_at, $4::timestamptz),
           updated_at   = $4::timestamptz
      FROM taken
     WHERE s.instance_id = taken.instance_id
       AND s.seq = taken.seq
    RETURNING taken.effective, s.*
)
SELECT looked.count, s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler,
       s.max_attempts, s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to,
       s.config::text, s.metadata::text, s.status, s.attempts, s.compensation_attempts,
       s.input::text, s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at,
       s.finished_at, s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token,
       s.locked_until, s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event,
       s.deadline_at, s.is_timed_out, s.signal::text, s.remaining, s.updated_at
  FROM (SELECT count(*) FROM head) AS looked
  LEFT JOIN leased AS s ON true
 ORDER BY s.effective DESC, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
