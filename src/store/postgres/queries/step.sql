-- name: insert_steps
-- New rows.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_step
       ({step.insert})
SELECT {step.values}
  FROM (SELECT {step.arrays insert}) AS given


-- name: update_steps
-- doing: write steps
-- Writes the columns that may change, of rows that this transaction has locked.
--
--   $1..  an array for each of them, for instance_id and for seq
UPDATE workflow.workflow_step AS s
   SET {step.changes}
  FROM (SELECT {step.arrays changes}) AS given
 WHERE s.instance_id = given.instance_id
   AND s.seq = given.seq


-- name: delete_steps
-- Removes steps that this transaction has locked.
--
--   $1, $2  their instances and places
DELETE FROM workflow.workflow_step AS s
 USING unnest($1::uuid[], $2::int[]) AS given (instance_id, seq)
 WHERE s.instance_id = given.instance_id
   AND s.seq = given.seq


-- part: steps_given
-- Steps by ranges of places, in one order, up to how they are locked.
SELECT given.ordinal, s.*
  FROM (SELECT g.instance_id, g.first, g.last, g.ordinal
          FROM unnest($1::uuid[], $2::int[], $3::int[])
               WITH ORDINALITY AS g (instance_id, first, last, ordinal)
         ORDER BY g.instance_id, g.first) AS given
 CROSS JOIN LATERAL (
       SELECT {step.columns s}
         FROM workflow.workflow_step AS s
        WHERE s.instance_id = given.instance_id
          AND s.seq BETWEEN given.first AND given.last
        ORDER BY s.seq


-- name: lock_steps
-- Reads and locks steps; waits for each up to lock_timeout.
--
--   $1, $2, $3  their instances, and ranges of places: the first and the last
--
-- Neighbours are found together, by one look into the index.  Locks them one at a time and in one
-- order, so that no deadlock can happen.  The first column says of which of the given ranges a row
-- is, from 1.
{steps_given s}
          FOR NO KEY UPDATE) AS s


-- name: lock_free_steps
-- doing: lock steps
-- Like lock_steps, but leaves out what others hold: it is sent before it is known of which instances the
-- locks were had.
{steps_given s}
          FOR NO KEY UPDATE SKIP LOCKED) AS s


-- name: lock_current_steps
-- doing: lock steps
-- The steps at which an instance stands, by place; locked.
--
--   $1  instance
--   $2  only those after this place
--   $3  how many at most
--
-- Walks idx_workflow_step_current, whose condition is repeated here word for word.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq > $2::int
   AND (s.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
        OR s.locked_by IS NOT NULL OR s.is_held)
 ORDER BY s.seq
 LIMIT $3::bigint
   FOR NO KEY UPDATE


-- name: lock_steps_between
-- doing: lock steps
-- Steps of one instance between two places, by place; locked.
--
--   $1      instance
--   $2      status; NULL: any
--   $3, $4  first and last place
--   $5      how many at most
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq BETWEEN $3::int AND $4::int
   AND ($2::text IS NULL OR s.status = $2::text)
 ORDER BY s.seq
 LIMIT $5::bigint
   FOR NO KEY UPDATE


-- name: lock_committed_steps
-- doing: lock steps
-- Steps of one instance that have ended, the latest first; locked.
--
--   $1      instance
--   $2      only those with a commit number below this one
--   $3, $4  first and last place
--   $5      how many at most
--
-- Walks idx_workflow_step_committed backwards.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.commit_no > 0
   AND s.commit_no < $2::bigint
   AND s.seq BETWEEN $3::int AND $4::int
 ORDER BY s.commit_no DESC
 LIMIT $5::bigint
   FOR NO KEY UPDATE


-- name: list_open_steps
-- doing: list steps
-- As lock_current_steps, of several instances and without payloads, but nothing is locked.
--
--   $1  the instances
--   $2  of the first one only those after this place
--   $3  how many at most
SELECT {step.columns s but input output passed}, NULL, NULL, NULL
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, place)
 CROSS JOIN LATERAL (
       SELECT one.*
         FROM workflow.workflow_step AS one
        WHERE one.instance_id = given.id
          AND one.seq > CASE given.place WHEN 1 THEN $2::int ELSE -1 END
          AND (one.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
               OR one.locked_by IS NOT NULL OR one.is_held)
        ORDER BY one.seq
        LIMIT $3::bigint) AS s
 ORDER BY given.place, s.seq
 LIMIT $3::bigint


-- name: list_current_steps
-- doing: list steps
-- The steps at which an instance stands, by place.
--
--   $1  instance
--   $2  only those after this place
--   $3  how many at most
--
-- Walks idx_workflow_step_current.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq > $2::int
   AND s.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
 ORDER BY s.seq
 LIMIT $3::bigint


-- part: is_blocked
-- Whether the registry keeps a type from the claim, whose runtime is $5.
EXISTS (SELECT
          FROM workflow.workflow_registry AS rule
         WHERE rule.workflow_name = @type
           AND (NOT rule.is_enabled OR rule.runtime <> $5::text))


-- part: ranges_of_steps
-- What the claims below read of the given ranges: turns, whose first row is told.
range (number, type, version, priority, upto_version, upto_priority, since, is_blocked, is_laned)
AS MATERIALIZED (
    SELECT g.number, g.type,
           (greatest(g.lowest, 0) >> 7)::int, (greatest(g.lowest, 0) & 127)::int,
           (least(g.highest, 274877906943) >> 7)::int, (least(g.highest, 274877906943) & 127)::int,
           CASE WHEN g.mark > 0
                THEN timestamptz 'epoch' + g.mark * interval '1 microsecond' END,
           {is_blocked g}, {is_laned g}
      FROM (SELECT e.number, e.type COLLATE "C" AS type, e.lowest, e.highest, e.mark
              FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
                   WITH ORDINALITY AS e (type, lowest, highest, mark, number)) AS g
), whole (number, type, is_open, upto_version, upto_priority, version, priority, next_run_at,
          instance_seq, seq) AS (
    SELECT r.number, r.type, NOT r.is_blocked AND NOT r.is_laned, r.upto_version, r.upto_priority,
           first.*
      FROM range AS r
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = r.type AND s."group" = ''
              AND (s.version, s.priority) >= (r.version, r.priority)
              AND (s.version, s.priority) <= (r.upto_version, r.upto_priority)
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS first
     WHERE r.since IS NULL
    UNION ALL
    SELECT w.number, w.type, w.is_open, w.upto_version, w.upto_priority, next.*
      FROM whole AS w
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type = w.type AND s."group" = ''
              AND (s.version, s.priority) > (w.version, w.priority)
              AND (s.version, s.priority) <= (w.upto_version, w.upto_priority)
            ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
            LIMIT 1) AS next
)


-- part: turns_of_steps
SELECT r.number, r.type, NOT r.is_blocked AND NOT r.is_laned AS is_open, r.version, r.priority,
       first.*
  FROM range AS r
 CROSS JOIN LATERAL (
       SELECT s.next_run_at, s.instance_seq, s.seq
         FROM workflow.workflow_step AS s
        WHERE s.is_ready
          AND s.task_type = r.type AND s."group" = ''
          AND s.version = r.version
          AND s.priority = r.priority
          AND s.next_run_at >= r.since
        ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
        LIMIT 1) AS first
 WHERE r.since IS NOT NULL
UNION ALL
SELECT w.number, w.type, w.is_open, w.version, w.priority, w.next_run_at, w.instance_seq, w.seq
  FROM whole AS w


-- part: heads_of_turns
-- The rows of the turns `lead`, each from its first row on: before that are entries of steps that were claimed, which
-- stay until a vacuum.
SELECT h.place, h.next_run_at, h.instance_seq, h.seq,
       workflow.effective_priority(lead.priority, h.next_run_at, $6::timestamptz,
                                   $12::float8) AS effective
  FROM lead
 CROSS JOIN LATERAL (
       (SELECT s.ctid AS place, s.next_run_at, s.instance_seq, s.seq
          FROM workflow.workflow_step AS s
         WHERE s.is_ready
           AND s.task_type = lead.type AND s."group" = ''
           AND s.version = lead.version
           AND s.priority = lead.priority
           AND s.next_run_at >= coalesce(lead.next_run_at, '-infinity')
         ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
         LIMIT $7::bigint)
        UNION ALL
       (SELECT s.ctid, s.next_run_at, s.instance_seq, s.seq
          FROM workflow.workflow_step AS s
         WHERE lead.next_run_at IS NULL
           AND s.is_ready
           AND s.task_type = lead.type AND s."group" = ''
           AND s.version = lead.version
           AND s.priority = lead.priority
           AND s.next_run_at IS NULL
         ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
         LIMIT $7::bigint)) AS h
 ORDER BY effective DESC, h.next_run_at NULLS FIRST, h.instance_seq, h.seq
 LIMIT $7::bigint


-- part: lease_steps
UPDATE workflow.workflow_step AS s
   SET status       = CASE s.status WHEN 'ready' THEN 'running' ELSE s.status END,
       is_ready     = false,
       locked_by    = coalesce(($9::text[])[taken.number], ($9::text[])[1]),
       token        = coalesce(($10::text[])[taken.number], ($10::text[])[1]),
       locked_until = $11::timestamptz,
       due_at       = $11::timestamptz + interval '1 microsecond',
       started_at   = coalesce(s.started_at, $6::timestamptz),
       updated_at   = $6::timestamptz
  FROM taken
 WHERE s.ctid = taken.place
RETURNING taken.number, s.*


-- part: walk_of_steps
-- Where the open transactions begin, and what follows; see claim_steps.
pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0),
(extract(epoch FROM greatest($6::timestamptz - interval '100 milliseconds', 'epoch'))
 * 1000000)::bigint,
looked.all_heads + 4 * (SELECT count(*) FROM turn),
CASE WHEN s.number IS NOT DISTINCT FROM (SELECT min(leased.number) FROM leased) THEN (
     SELECT string_agg(turn.number || ' '
                       || (extract(epoch FROM least(greatest(turn.next_run_at, 'epoch'),
                                                    '9999-12-31')) * 1000000)::bigint, ' ')
       FROM turn) END


-- part: leased_steps
s.task_type, (s.version::bigint << 7) | s.priority,
(extract(epoch FROM least(greatest(coalesce(s.next_run_at, 'epoch'), 'epoch'), '9999-12-31'))
 * 1000000)::bigint,
{step.columns s}


-- name: claim_steps
-- Leases what is ready and matches, highest effective priority first.
--
--   $1..$4  ranges to read: type, lowest and highest rank, and the earliest next_run_at, in
--           microseconds since 1970; 0 is before everything, NULL included, and else a range is of
--           one rank.  A rank is (version << 7) | priority
--   $5  the claim's runtime; NULL: any
--   $6  now
--   $7  how many heads to look at
--   $8  how many to lease at most
--   $9, $10  workers and tokens: for each row that is leased, or one of each for all
--   $11  end of the lease
--   $12  how many points a second of waiting is worth
--
-- Each row begins with how many heads there were: as many as $7 means that there may be more
-- behind them.  Then how many were locked: more than were leased means that some had changed since
-- this statement began, and that another may get them.  Then for mark.h: how long the walk took in
-- microseconds, where the open transactions begin, this transaction's own number (0 if it has none),
-- the next_run_at that no new row is below (another process's transaction may have read its time
-- before the walk and write only now, so the last 100 ms are not known), how much work the walk had
-- (a turn counts for four rows); and in the first row alone, of each of the given ranges that has
-- rows, its number and the next_run_at of the first row, once for each turn.  Then whether a type was left out because
-- it has lanes (limit.sql), the step's type, rank and next_run_at, and its columns; in the last column what
-- claim_steps_beside says.  At least one row; if nothing was leased, the step's columns are NULL.
--
-- Within one type, version and priority the earliest leads whatever the rate.  So
-- idx_workflow_step_ready is walked from one turn, that is one triple of them, that has work to the
-- next (one probe each, at most 101 a type, and as many for each version of a function); of the $7
-- turns whose first row is most urgent the first $7 rows are read.  No other row can be
-- among the $7 most urgent.  No probe leaves its range: behind it may be any number of dead
-- entries.  Locks only what it takes, and skips what others hold.  A row is read once by the index,
-- and from then on found where it lies (ctid).
WITH RECURSIVE {ranges_of_steps}, turn AS MATERIALIZED (
    {turns_of_steps}
), lead AS (
    SELECT t.type, t.version, t.priority, t.next_run_at
      FROM turn AS t
     WHERE t.is_open
     ORDER BY workflow.effective_priority(t.priority, t.next_run_at, $6::timestamptz,
                                          $12::float8) DESC,
              t.next_run_at NULLS FIRST, t.instance_seq, t.seq
     LIMIT $7::bigint
), head AS MATERIALIZED (
    {heads_of_turns}
), taken AS MATERIALIZED (
    -- In the order of the heads, one at a time, until there are enough.
    SELECT held.place, row_number() OVER () AS number
      FROM (SELECT one.place
              FROM head
             CROSS JOIN LATERAL (
                   SELECT s.ctid AS place
                     FROM workflow.workflow_step AS s
                    WHERE s.ctid = head.place
                      AND s.is_ready      -- still claimable?
                      FOR NO KEY UPDATE SKIP LOCKED) AS one
             LIMIT $8::bigint) AS held
), leased AS (
    {lease_steps}
), looked AS MATERIALIZED (
    SELECT (SELECT count(*) FROM head) AS all_heads,
           (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS us
)
SELECT looked.all_heads, (SELECT count(*) FROM taken), looked.us,
       {walk_of_steps},
       (SELECT bool_or(range.is_laned AND NOT range.is_blocked) FROM range),
       {leased_steps}, ''
  FROM looked
  LEFT JOIN leased AS s ON true
 ORDER BY s.number


-- name: claim_steps_beside
-- doing: claim steps
-- As claim_steps, also of types that are not named, and beside steps in hand.
--
--   $1..$12  as there
--   $13, $14  types to look for: from this one on, and before that one
--   $15..$18  where the steps in hand stand: effective priority, next_run_at, instance_seq, seq;
--             -infinity behind all
--   $19, $20  their types, and how many there are of each
--   $21  1: only rows that come before them are leased; else 0
--
-- In the last column are the numbers of those types in hand that the registry blocks, and with a minus of those
-- that have lanes.
--
-- Each step in hand that is not blocked has a place of the room, and a holder, behind the rows that
-- come before them all.
WITH RECURSIVE kept AS MATERIALIZED (
    SELECT CASE $21::int WHEN 1 THEN $8::bigint
                ELSE coalesce(sum(k.count) FILTER (WHERE NOT k.is_blocked AND NOT k.is_laned), 0)
           END AS places,
           coalesce(string_agg(CASE WHEN k.is_blocked THEN k.number ELSE -k.number END::text, ' ')
                    FILTER (WHERE k.is_blocked OR k.is_laned), '') AS blocked,
           coalesce(bool_or(k.is_laned AND NOT k.is_blocked), false) AS is_laned
      FROM (SELECT g.number, g.count, {is_blocked g} AS is_blocked, {is_laned g} AS is_laned
              FROM unnest($19::text[], $20::bigint[])
                   WITH ORDINALITY AS g (type, count, number)
            OFFSET 0) AS k -- each look is planned once
), {ranges_of_steps}, gap (before, type, "group", version, priority, next_run_at, instance_seq, seq) AS (
    SELECT g.before, first.*
      FROM (SELECT e.first COLLATE "C", e.before COLLATE "C"
              FROM unnest($13::text[], $14::text[]) AS e (first, before)) AS g (first, before)
     CROSS JOIN LATERAL (
           SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at, s.instance_seq, s.seq
             FROM workflow.workflow_step AS s
            WHERE s.is_ready
              AND s.task_type >= g.first AND s.task_type < g.before
            ORDER BY s.task_type, s."group", s.version, s.priority, s.next_run_at NULLS FIRST,
                  s.instance_seq, s.seq
            LIMIT 1) AS first
    UNION ALL
    -- Behind a group other than '' comes the next type: such groups have lanes.
    SELECT w.before, next.*
      FROM gap AS w
     CROSS JOIN LATERAL (
           SELECT n.*
             FROM ((SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at,
                           s.instance_seq, s.seq
                      FROM workflow.workflow_step AS s
                     WHERE s.is_ready
                       AND s.task_type = w.type AND s."group" = '' AND w."group" = ''
                       AND (s.version, s.priority) > (w.version, w.priority)
                     ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
                     LIMIT 1)
                   UNION ALL
                   (SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at,
                           s.instance_seq, s.seq
                      FROM workflow.workflow_step AS s
                     WHERE s.is_ready
                       AND s.task_type > w.type AND s.task_type < w.before
                     ORDER BY s.task_type, s."group", s.version, s.priority,
                           s.next_run_at NULLS FIRST, s.instance_seq, s.seq
                     LIMIT 1)) AS n
            ORDER BY n.task_type
            LIMIT 1) AS next
), found AS MATERIALIZED (
    -- What is laned tells the claim, too.
    SELECT b.*, {is_blocked b} AS is_blocked, {is_laned b} AS is_laned
      FROM gap AS b
), turn AS MATERIALIZED (
    {turns_of_steps}
    UNION ALL
    SELECT NULL, f.type, NOT f.is_blocked AND NOT f.is_laned, f.version, f.priority, f.next_run_at,
           f.instance_seq, f.seq
      FROM found AS f
     WHERE f."group" = ''
), lead AS (
    SELECT t.type, t.version, t.priority, t.next_run_at
      FROM (SELECT turn.*, workflow.effective_priority(turn.priority, turn.next_run_at,
                                                       $6::timestamptz, $12::float8) AS effective
              FROM turn) AS t
     WHERE t.is_open
       AND ($21::int = 0 OR t.effective > $15::float8
            OR (t.effective = $15::float8
                AND (coalesce(t.next_run_at, '-infinity'), t.instance_seq, t.seq)
                    < ($16::timestamptz, $17::bigint, $18::int)))
     ORDER BY t.effective DESC, t.next_run_at NULLS FIRST, t.instance_seq, t.seq
     LIMIT $7::bigint
), head AS MATERIALIZED (
    SELECT one.place,
           one.effective > $15::float8
           OR (one.effective = $15::float8
               AND (coalesce(one.next_run_at, '-infinity'), one.instance_seq, one.seq)
                   < ($16::timestamptz, $17::bigint, $18::int)) AS is_before
      FROM ({heads_of_turns}) AS one
), before AS MATERIALIZED (
    -- In the order of the heads, one at a time, until there are enough.
    SELECT held.place
      FROM head
     CROSS JOIN LATERAL (
           SELECT s.ctid AS place
             FROM workflow.workflow_step AS s
            WHERE s.ctid = head.place
              AND s.is_ready      -- still claimable?
              FOR NO KEY UPDATE SKIP LOCKED) AS held
     WHERE head.is_before
     LIMIT $8::bigint
), behind AS MATERIALIZED (
    SELECT held.place
      FROM head
     CROSS JOIN LATERAL (
           SELECT s.ctid AS place
             FROM workflow.workflow_step AS s
            WHERE s.ctid = head.place
              AND s.is_ready
              FOR NO KEY UPDATE SKIP LOCKED) AS held
     WHERE NOT head.is_before
     LIMIT (SELECT greatest($8::bigint - kept.places - (SELECT count(*) FROM before), 0)
              FROM kept)
), taken AS MATERIALIZED (
    SELECT b.place, row_number() OVER () AS number
      FROM before AS b
    UNION ALL
    SELECT b.place,
           (SELECT count(*) FROM before) + (SELECT kept.places FROM kept)::bigint
           + row_number() OVER ()
      FROM behind AS b
), leased AS (
    {lease_steps}
), looked AS MATERIALIZED (
    -- Once all that comes before the steps in hand was seen, and the places behind them are filled,
    -- nothing more is wanted.
    SELECT heads.count AS all_heads,
           CASE WHEN heads.before < heads.count
                 AND (SELECT count(*) FROM taken) + (SELECT kept.places FROM kept) >= $8::bigint
                THEN heads.before ELSE heads.count END AS heads,
           (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS us
      FROM (SELECT count(*), count(*) FILTER (WHERE head.is_before) AS before
              FROM head) AS heads
)
SELECT looked.heads, (SELECT count(*) FROM taken), looked.us,
       {walk_of_steps},
       (SELECT kept.is_laned FROM kept)
       OR EXISTS (SELECT FROM range AS r WHERE r.is_laned AND NOT r.is_blocked)
       OR EXISTS (SELECT FROM found AS f WHERE f.is_laned AND NOT f.is_blocked),
       {leased_steps}, (SELECT kept.blocked FROM kept)
  FROM looked
  LEFT JOIN leased AS s ON true
 ORDER BY s.number


-- name: check_steps
-- doing: claim steps
-- The first step of one type and rank that can be claimed, of a part of the index.
--
--   $1, $2  type, rank: (version << 7) | priority
--   $3, $4  from this next_run_at on, and before that one, in microseconds since 1970; 0 is before
--           everything, NULL included
--
-- One row: its next_run_at likewise, NULL for none; how long the walk took in microseconds.  Walks
-- idx_workflow_step_ready.
SELECT CASE WHEN $3::bigint = 0 AND EXISTS (
                 SELECT
                   FROM workflow.workflow_step AS s
                  WHERE s.is_ready
                    AND s.task_type = $1::text COLLATE "C" AND s."group" = ''
                    AND s.version = ($2::bigint >> 7)::int
                    AND s.priority = ($2::bigint & 127)::int
                    AND s.next_run_at IS NULL)
            THEN 0
            ELSE (SELECT (extract(epoch FROM greatest(s.next_run_at, 'epoch')) * 1000000)::bigint
                    FROM workflow.workflow_step AS s
                   WHERE s.is_ready
                     AND s.task_type = $1::text COLLATE "C" AND s."group" = ''
                     AND s.version = ($2::bigint >> 7)::int
                     AND s.priority = ($2::bigint & 127)::int
                     AND s.next_run_at >= CASE WHEN $3::bigint = 0 THEN '-infinity'
                             ELSE timestamptz 'epoch' + $3::bigint * interval '1 microsecond' END
                     AND s.next_run_at
                         < timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
                   ORDER BY s.next_run_at NULLS FIRST
                   LIMIT 1)
       END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint


-- name: find_claimed_steps
-- The steps leased under this worker and token, in the order of a claim without
-- aging.
--
--   $1, $2  worker, token
--   $3      how many at most
--
-- Looks at what is leased now; asked only after a commit with an unknown end.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
   AND s.status IN ('running', 'compensation')
   AND s.locked_by = $1::text
   AND s.token = $2::text
 ORDER BY s.priority DESC, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
 LIMIT $3::bigint


-- name: read_steps
-- Steps of a set, read and not locked.
--
--   $1, $2, $3  their instances, and ranges of places: the first and the last
--
-- The first column says of which of the given ranges a row is, from 1.
SELECT given.ordinal,
       {step.columns s}
  FROM unnest($1::uuid[], $2::int[], $3::int[])
       WITH ORDINALITY AS given (instance_id, first, last, ordinal)
  JOIN workflow.workflow_step AS s
    ON s.instance_id = given.instance_id
   AND s.seq BETWEEN given.first AND given.last


-- name: get_step
-- doing: read a step
-- One step by its name.  What is under way is found by its index; only what is not makes
-- the instance's steps be read.
--
--   $1, $2  instance, name
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq = coalesce(
       (SELECT c.seq
          FROM workflow.workflow_step AS c
         WHERE c.instance_id = $1::uuid
           AND c.name = $2::text
           AND c.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused',
                            'compensation')
         ORDER BY c.seq
         LIMIT 1),
       (SELECT c.seq
          FROM workflow.workflow_step AS c
         WHERE c.instance_id = $1::uuid
           AND c.name = $2::text
         ORDER BY c.seq
         LIMIT 1))


-- name: list_steps
-- The steps of an instance, by place.
--
--   $1  instance
--   $2  only those after this place
--   $3  how many at most
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq > $2::int
 ORDER BY s.seq
 LIMIT $3::bigint


-- name: list_fork_steps
-- doing: list steps
-- As list_steps, without payloads.
--
--   $1      instance
--   $2, $3  between these places, both included
--   $4      how many at most
SELECT {step.columns s but input output passed}, NULL, NULL, NULL
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq BETWEEN $2::int AND $3::int
 ORDER BY s.seq
 LIMIT $4::bigint


-- name: list_memos
-- doing: list steps
-- The steps of functions behind place 0, in the order of the instances, by place.
--
--   $1, $2  instances, and the place of each behind which its steps are listed
--   $3      how many at most
--
-- One instance after the other, each by its primary key, until there are enough: so nothing is
-- sorted, and nothing is read that is not wanted.
SELECT s.*
  FROM unnest($1::uuid[], $2::int[]) AS given (id, place)
 CROSS JOIN LATERAL (
       SELECT {step.columns s}
         FROM workflow.workflow_step AS s
        WHERE s.instance_id = given.id
          AND s.seq > given.place
        ORDER BY s.seq) AS s
 LIMIT $3::bigint


-- name: list_ready_types
-- Which types of steps can be claimed, by version and priority, and since when.
--
--   $1  how many at most
--
-- Rows (type, version, next_run_at, instance_id), of the step of each that waits longest; of steps that have
-- groups those of the first group, of functions, whose versions may differ, those of each.  A few probes of
-- idx_workflow_step_ready each.
WITH RECURSIVE walk (type, "group", version, priority, since, instance_id) AS (
    (SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at, s.instance_id
       FROM workflow.workflow_step AS s
      WHERE s.is_ready
      ORDER BY s.task_type, s."group", s.version, s.priority, s.next_run_at NULLS FIRST
      LIMIT 1)
    UNION ALL
    SELECT next.*
      FROM walk
     CROSS JOIN LATERAL (
           SELECT n.*
             FROM ((SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at, s.instance_id
                      FROM workflow.workflow_step AS s
                     WHERE s.is_ready
                       AND s.task_type = walk.type AND s."group" = walk."group"
                       AND (s.version, s.priority) > (walk.version, walk.priority)
                     ORDER BY s.version, s.priority, s.next_run_at NULLS FIRST
                     LIMIT 1)
                   UNION ALL
                   (SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at, s.instance_id
                      FROM workflow.workflow_step AS s
                     WHERE s.is_ready AND walk.version > 0
                       AND s.task_type = walk.type AND s."group" > walk."group"
                     ORDER BY s."group", s.version, s.priority, s.next_run_at NULLS FIRST
                     LIMIT 1)
                   UNION ALL
                   (SELECT s.task_type, s."group", s.version, s.priority, s.next_run_at, s.instance_id
                      FROM workflow.workflow_step AS s
                     WHERE s.is_ready AND s.task_type > walk.type
                     ORDER BY s.task_type, s."group", s.version, s.priority, s.next_run_at NULLS FIRST
                     LIMIT 1)) AS n
            ORDER BY n.task_type, n."group"
            LIMIT 1) AS next
)
SELECT walk.type, walk.version, walk.since, walk.instance_id::text
  FROM walk
 LIMIT $1::bigint


-- name: count_steps
-- How many steps can be claimed and how many are leased.
--
-- One row: ready, leased.  Reads the indexes of those alone; a lease always has its due_at.
SELECT (SELECT count(*)
          FROM workflow.workflow_step AS s
         WHERE s.is_ready),
       (SELECT count(*)
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL)


-- name: read_statuses
-- doing: read steps
-- The places and statuses of an instance's first steps.
--
--   $1  instance
--   $2  those before this place
SELECT s.seq, s.status
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq < $2::int
