-- claim_steps: leases what is ready and matches, highest effective priority first.
--
--   $1..$4  ranges to read: type, lowest and highest rank, and the earliest next_run_at, in
--           microseconds since 1970; 0 is before everything, NULL included, and else a range is of
--           one rank.  A rank is (version << 7) | priority
--   $5, $6  types to look for: from this one on, and before that one
--   $7  the claim's runtime; NULL: any
--   $8  now
--   $9  how many heads to look at
--   $10  how many to lease at most
--   $11, $12  workers and tokens: for each row that is leased, or one of each for all
--   $13  end of the lease
--   $14  how many points a second of waiting is worth
--
-- Each row begins with how many heads there were: as many as $9 means that there may be more
-- behind them.  Then how many were locked: more than were leased means that some had changed since
-- this statement began, and that another may get them.  Then what mark.h wants to know: how long
-- the walk took in microseconds, where the open transactions begin, this transaction's own number (0
-- if it has none), how many turns there were; and in the first row alone, of each of the ranges given that is not empty, its
-- number and the earliest next_run_at found there.  Then the step's version and its other columns.
-- At least one row; the columns of the step are NULL if nothing was leased.
--
-- Within one type, version and priority the earliest leads whatever the rate.  So
-- idx_workflow_step_ready is walked from one turn, that is one triple of them, that has work to the
-- next (one probe each, at most 101 a type, and as many for each version of a function); of the $9
-- turns whose first row is most urgent the first $9 rows are read.  No other row can be
-- among the $9 most urgent.  No probe leaves its range: behind it may be any number of dead
-- entries.  Locks only what it takes, and skips what others hold.  A row is read once by the index,
-- and from then on found where it lies (ctid).

WITH RECURSIVE range (number, type, version, priority, upto_version, upto_priority, since) AS (
    SELECT g.number, g.type COLLATE "C",
           (greatest(g.lowest, 0) >> 7)::int, (greatest(g.lowest, 0) & 127)::int,
           (least(g.highest, 274877906943) >> 7)::int, (least(g.highest, 274877906943) & 127)::int,
           CASE WHEN g.mark > 0
                THEN timestamptz 'epoch' + g.mark * interval '1 microsecond' END
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
           WITH ORDINALITY AS g (type, lowest, highest, mark, number)
), marked (number, type, version, priority, next_run_at, instance_seq, seq) AS (
    SELECT r.number, r.type, r.version, r.priority, first.*
      FROM range AS r
     CROSS JOIN LATERAL (
           SELECT s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = r.type
              AND s.version = r.version
              AND s.priority = r.priority
              AND s.next_run_at >= r.since
            ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS first
     WHERE r.since IS NOT NULL
), whole (number, type, upto_version, upto_priority, version, priority, next_run_at, instance_seq,
          seq) AS (
    SELECT r.number, r.type, r.upto_version, r.upto_priority, first.*
      FROM range AS r
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = r.type
              AND (s.version, s.priority) >= (r.version, r.priority)
              AND (s.version, s.priority) <= (r.upto_version, r.upto_priority)
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS first
     WHERE r.since IS NULL
    UNION ALL
    SELECT w.number, w.type, w.upto_version, w.upto_priority, next.*
      FROM whole AS w
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = w.type
              AND (s.version, s.priority) > (w.version, w.priority)
              AND (s.version, s.priority) <= (w.upto_version, w.upto_priority)
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS next
), gap (before, type, version, priority, next_run_at, instance_seq, seq) AS (
    SELECT g.before, first.*
      FROM (SELECT e.first COLLATE "C", e.before COLLATE "C"
              FROM unnest($5::text[], $6::text[]) AS e (first, before)) AS g (first, before)
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type >= g.first AND s.task_type < g.before
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST,
                  s.instance_seq, s.seq
            LIMIT 1) AS first
    UNION ALL
    SELECT w.before, next.*
      FROM gap AS w
     CROSS JOIN LATERAL (
           SELECT s.task_type, s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND (s.task_type, s.version, s.priority) > (w.type, w.version, w.priority)
              AND s.task_type < w.before
            ORDER BY s.task_type, s.version, s.priority, s.next_run_at NULLS FIRST,
                  s.instance_seq, s.seq
            LIMIT 1) AS next
), turn AS MATERIALIZED (
    SELECT m.number, m.type, m.version, m.priority, m.next_run_at, m.instance_seq, m.seq
      FROM marked AS m
    UNION ALL
    SELECT w.number, w.type, w.version, w.priority, w.next_run_at, w.instance_seq, w.seq
      FROM whole AS w
    UNION ALL
    SELECT NULL, b.type, b.version, b.priority, b.next_run_at, b.instance_seq, b.seq
      FROM gap AS b
), lead AS MATERIALIZED (
    SELECT turn.type, turn.version, turn.priority, turn.next_run_at
      FROM turn
     WHERE NOT EXISTS (
           SELECT
             FROM workflow.workflow_registry AS g
            WHERE g.workflow_name = turn.type
              AND (NOT g.is_enabled OR g.runtime <> $7::text))
     ORDER BY workflow.effective_priority(turn.priority, turn.next_run_at, $8::timestamptz,
                                          $14::float8) DESC,
              turn.next_run_at NULLS FIRST, turn.instance_seq, turn.seq
     LIMIT $9::bigint
), head AS MATERIALIZED (
    -- Each from its first row on: before that are entries of steps that were claimed, which stay
    -- until a vacuum.
    SELECT h.place, workflow.effective_priority(lead.priority, h.next_run_at, $8::timestamptz,
                                                $14::float8) AS effective
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
             LIMIT $9::bigint)
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
             LIMIT $9::bigint)) AS h
     ORDER BY effective DESC, h.next_run_at NULLS FIRST, h.instance_seq, h.seq
     LIMIT $9::bigint
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
     LIMIT $10::bigint
), leased AS (
    UPDATE workflow.workflow_step AS s
       SET status       = CASE s.status WHEN 'ready' THEN 'running' ELSE s.status END,
           is_ready     = false,
           locked_by    = coalesce(($11::text[])[taken.number], ($11::text[])[1]),
           token        = coalesce(($12::text[])[taken.number], ($12::text[])[1]),
           locked_until = $13::timestamptz,
           due_at       = $13::timestamptz + interval '1 microsecond',
           started_at   = coalesce(s.started_at, $8::timestamptz),
           updated_at   = $8::timestamptz
      FROM (SELECT t.place, t.effective, row_number() OVER () AS number
              FROM taken AS t) AS taken
     WHERE s.ctid = taken.place
    RETURNING taken.effective, s.*
), looked AS MATERIALIZED (
    SELECT heads.count AS heads,
           (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS us
      FROM (SELECT count(*) FROM head) AS heads
)
SELECT looked.heads, (SELECT count(*) FROM taken), looked.us,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
       coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0),
       (SELECT count(*) FROM turn),
       CASE WHEN row_number() OVER (ORDER BY s.effective DESC, s.next_run_at NULLS FIRST,
                                             s.instance_seq, s.seq) = 1 THEN (
            SELECT string_agg(low.number || ' ' || low.key, ' ')
              FROM (SELECT turn.number,
                           (extract(epoch FROM least(greatest(min(turn.next_run_at), 'epoch'),
                                                     '9999-12-31')) * 1000000)::bigint AS key
                      FROM turn
                     WHERE turn.number IS NOT NULL
                     GROUP BY turn.number) AS low) END,
       s.version, s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind,
       s.handler, s.max_attempts, s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to,
       s.config::text, s.metadata::text, s.status, s.attempts, s.compensation_attempts,
       s.input::text, s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at,
       s.finished_at, s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token,
       s.locked_until, s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event,
       s.deadline_at, s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
       s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
  FROM looked
  LEFT JOIN leased AS s ON true
 ORDER BY s.effective DESC, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
