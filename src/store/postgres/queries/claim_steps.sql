-- claim_steps: leases what is ready and matches, highest effective priority first.
--
--   $1  exact types
--   $2  prefixes, without their %
--   $3  the claim's runtime; NULL: any
--   $4  now
--   $5  how many heads to look at
--   $6  how many to lease at most
--   $7, $8  workers and tokens: for each row that is leased, or one of each for all
--   $9   end of the lease
--   $10  how many points a second of waiting is worth
--   $11, $12  of each exact type: the lowest and the highest version
--
-- Each row begins with how many heads there were: as many as $5 means that there may be more
-- behind them.  Then how many were locked: more than were leased means that some had changed since
-- this statement began, and that another may get them.  At least one row; the columns of the step
-- are NULL if nothing was leased.
--
-- Within one type, version and priority the earliest leads whatever the rate.  So
-- idx_workflow_step_ready is walked from one turn, that is one triple of them, that has work to the
-- next (one probe each, at most 101 a type, and as many for each version of a function); of the $5
-- turns whose first row is most urgent the first $5 rows are read.  No other row can be
-- among the $5 most urgent.  Locks only what it takes, and skips what others hold.  A row is read
-- once by the index, and from then on found where it lies (ctid).

WITH RECURSIVE prefixed (prefix, type, version, priority, next_run_at, instance_seq, seq) AS (
    SELECT p.prefix, first.*
      FROM (SELECT e.prefix COLLATE "C" FROM unnest($2::text[]) AS e (prefix)) AS p (prefix)
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type >= p.prefix
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST,
                  s.instance_seq, s.seq
            LIMIT 1) AS first
     WHERE starts_with(first.task_type, p.prefix)
    UNION ALL
    SELECT w.prefix, next.*
      FROM prefixed AS w
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND (s.task_type, s.version, s.priority) > (w.type, w.version, w.priority)
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST,
                  s.instance_seq, s.seq
            LIMIT 1) AS next
     WHERE starts_with(next.task_type, w.prefix)
), exact (type, upto, version, priority, next_run_at, instance_seq, seq) AS (
    SELECT t.type, t.upto, first.*
      FROM (SELECT e.type COLLATE "C", e.since, e.upto
              FROM unnest($1::text[], $11::int[], $12::int[]) AS e (type, since, upto))
           AS t (type, since, upto)
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = t.type
              AND s.version >= t.since
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS first
     WHERE first.version <= t.upto
    UNION ALL
    SELECT w.type, w.upto, next.*
      FROM exact AS w
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = w.type
              AND (s.version, s.priority) > (w.version, w.priority)
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS next
     WHERE next.version <= w.upto
), turn AS (
    SELECT p.type, p.version, p.priority, p.next_run_at, p.instance_seq, p.seq
      FROM prefixed AS p
    UNION
    SELECT e.type, e.version, e.priority, e.next_run_at, e.instance_seq, e.seq
      FROM exact AS e
), lead AS MATERIALIZED (
    SELECT turn.type, turn.version, turn.priority, turn.next_run_at
      FROM turn
     WHERE NOT EXISTS (
           SELECT
             FROM workflow.workflow_registry AS g
            WHERE g.workflow_name = turn.type
              AND (NOT g.is_enabled OR g.runtime <> $3::text))
     ORDER BY workflow.effective_priority(turn.priority, turn.next_run_at, $4::timestamptz,
                                          $10::float8) DESC,
              turn.next_run_at NULLS FIRST, turn.instance_seq, turn.seq
     LIMIT $5::bigint
), head AS MATERIALIZED (
    -- Each from its first row on: before that are entries of steps that were claimed, which stay
    -- until a vacuum.
    SELECT h.place, workflow.effective_priority(lead.priority, h.next_run_at, $4::timestamptz,
                                                $10::float8) AS effective
      FROM lead
     CROSS JOIN LATERAL (
           (SELECT s.ctid AS place, s.next_run_at, s.instance_seq, s.seq
              FROM workflow.workflow_step AS s
             WHERE s.is_ready
               AND s.task_type = lead.type
               AND s.version = lead.version
               AND s.priority = lead.priority
               AND s.next_run_at >= coalesce(lead.next_run_at, '-infinity')
             ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
             LIMIT $5::bigint)
            UNION ALL
           (SELECT s.ctid, s.next_run_at, s.instance_seq, s.seq
              FROM workflow.workflow_step AS s
             WHERE lead.next_run_at IS NULL
               AND s.is_ready
               AND s.task_type = lead.type
               AND s.version = lead.version
               AND s.priority = lead.priority
               AND s.next_run_at IS NULL
             ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
             LIMIT $5::bigint)) AS h
     ORDER BY effective DESC, h.next_run_at NULLS FIRST, h.instance_seq, h.seq
     LIMIT $5::bigint
), taken AS MATERIALIZED (
    -- In the order of the heads, one at a time, until there are enough.
    SELECT held.place, head.effective
      FROM head
     CROSS JOIN LATERAL (
           SELECT s.ctid AS place
             FROM workflow.workflow_step AS s
            WHERE s.ctid = head.place
              AND s.is_ready      -- still claimable?
              FOR NO KEY UPDATE SKIP LOCKED) AS held
     LIMIT $6::bigint
), leased AS (
    UPDATE workflow.workflow_step AS s
       SET status       = CASE s.status WHEN 'ready' THEN 'running' ELSE s.status END,
           is_ready     = false,
           locked_by    = coalesce(($7::text[])[taken.number], ($7::text[])[1]),
           token        = coalesce(($8::text[])[taken.number], ($8::text[])[1]),
           locked_until = $9::timestamptz,
           due_at       = $9::timestamptz + interval '1 microsecond',
           started_at   = coalesce(s.started_at, $4::timestamptz),
           updated_at   = $4::timestamptz
      FROM (SELECT t.place, t.effective, row_number() OVER () AS number
              FROM taken AS t) AS taken
     WHERE s.ctid = taken.place
    RETURNING taken.effective, s.*
)
SELECT looked.heads, looked.taken, s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind,
       s.handler, s.max_attempts, s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to,
       s.config::text, s.metadata::text, s.status, s.attempts, s.compensation_attempts,
       s.input::text, s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at,
       s.finished_at, s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token,
       s.locked_until, s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event,
       s.deadline_at, s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
       s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
  FROM (SELECT (SELECT count(*) FROM head) AS heads,
               (SELECT count(*) FROM taken) AS taken) AS looked
  LEFT JOIN leased AS s ON true
 ORDER BY s.effective DESC, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
