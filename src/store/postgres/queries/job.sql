-- part: new_jobs
-- New rows, in the order given, which becomes the order of seq; but for those whose key is kept.
--
--   $1..  an array for each column
--
-- An event from 2^62 on is of the row of the log that this transaction was given with its begin.
INSERT INTO workflow.workflow_run
       ({job.insert but last_event}, last_event)
SELECT {job.values but last_event},
       CASE WHEN given.last_event >= 4611686018427387904
            THEN given.last_event - 4611686018427387904
                 + (SELECT currval('workflow.workflow_event_id_seq') << 12)
            ELSE coalesce(given.last_event, 0) END
  FROM (SELECT {job.arrays insert}) AS given
 WHERE (given.idempotency_key IS NULL
        OR (SELECT true
              FROM workflow.workflow_key AS k
             WHERE k.key = given.idempotency_key AND k.workflow = '' AND k.kind = 'job'
             LIMIT 1) IS NULL)


-- name: insert_jobs
-- Leaves out rows whose id or key exists already, or whose key is kept.  Returns id and seq of those that are new.
WITH added AS (
    {new_jobs}
    ON CONFLICT DO NOTHING
    RETURNING id, seq
), entered AS (
    INSERT INTO workflow.workflow_run_order (seq, id) SELECT added.seq, added.id FROM added
)
SELECT added.id::text, added.seq FROM added


-- name: insert_leased_jobs
-- doing: insert jobs
-- insert_jobs, of rows of which some are leased, for a claim that would be given just these: nothing is inserted if
-- there may be another job for it, or if one of its types is disabled or has lanes.
--
--   $1..$31  an array for each column
--   $32      types of the claim
--   $33      when to look at the leases
--
-- Returns id and seq of those that are new, as insert_jobs does, and their columns.  Walks
-- idx_workflow_run_type_prefix, one probe for each type.
WITH added AS (
    {new_jobs}
       AND NOT EXISTS (
           SELECT
             FROM unnest($32::text[]) AS t (type)
            -- EXISTS here would be a hash of all waiting jobs.
            WHERE (SELECT true
                     FROM workflow.workflow_run AS r
                    WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
                      AND r.type = t.type COLLATE "C" AND r."group" = ''
                    LIMIT 1)
               OR (SELECT true
                     FROM workflow.workflow_registry AS g
                    WHERE g.workflow_name = t.type AND NOT g.is_enabled
                    LIMIT 1)
               OR (SELECT true
                     FROM workflow.workflow_group_type AS g
                    WHERE g.type = t.type
                    LIMIT 1)
               OR (SELECT true
                     FROM workflow.workflow_limit AS l
                    WHERE workflow.type_matches(t.type, l.types)
                    LIMIT 1))
    ON CONFLICT DO NOTHING
    RETURNING *
), entered AS (
    INSERT INTO workflow.workflow_run_order (seq, id) SELECT added.seq, added.id FROM added
), noted AS (
    INSERT INTO workflow.workflow_run_lease (until, ids)
    SELECT $33::timestamptz, array_agg(added.id)
      FROM added
     WHERE added.status = 'leased'
    HAVING count(*) > 0
)
SELECT added.id::text, added.seq, {job.columns added} FROM added


-- name: find_existing_jobs
-- doing: find jobs by key
-- The rows that are in the way of rows that could not be inserted.
--
--   $1, $2  their ids and keys
--
-- Ordinal, seq of this very row if it exists, and id and seq of the job that has the key; of one that was purged its id
-- alone.
SELECT given.ordinal, again.seq, coalesce(other.id, kept.id)::text, other.seq
  FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS given (id, key, ordinal)
  LEFT JOIN workflow.workflow_run AS again
         ON again.id = given.id AND again.idempotency_key IS NOT DISTINCT FROM given.key
  LEFT JOIN workflow.workflow_run AS other ON other.idempotency_key = given.key
  LEFT JOIN workflow.workflow_key AS kept
         ON kept.key = given.key AND kept.workflow = '' AND kept.kind = 'job'


-- name: refuse_kept_jobs
-- doing: insert jobs
-- Fails, to be tried again, if the key of a row that was just inserted was kept meanwhile.
--
--   $1, $2  ids and keys
SELECT workflow.refuse_kept_key(given.key)
  FROM unnest($1::uuid[], $2::text[]) AS given (id, key)
 WHERE (SELECT true
          FROM workflow.workflow_key AS k
         WHERE k.key = given.key AND k.workflow = '' AND k.kind = 'job'
         LIMIT 1)


-- name: lock_jobs
-- Reads and locks rows, in order of id, leaving out those that another transaction
-- holds.
--
--   $1  ids
--
-- The first column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT {job.brief r}
      FROM workflow.workflow_run AS r
     WHERE r.id = ANY ($1::uuid[])
     ORDER BY r.id
       FOR NO KEY UPDATE SKIP LOCKED
)
SELECT clock_timestamp(), locked.*
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: lock_jobs_waiting
-- doing: lock jobs
-- Reads and locks rows, in order of id; waits for each up to lock_timeout.
--
--   $1  ids
--
-- The first column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT {job.brief r}
      FROM workflow.workflow_run AS r
     WHERE r.id = ANY ($1::uuid[])
     ORDER BY r.id
       FOR NO KEY UPDATE
)
SELECT clock_timestamp(), locked.*
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: find_jobs
-- Which of these rows are there at all, in order of id.
--
--   $1  ids
SELECT r.id::text
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY ($1::uuid[])
 ORDER BY r.id


-- name: lock_expired_jobs
-- doing: find expired leases
-- Reads and locks rows whose lease has run out, the earliest first.
--
--   $1  now
--   $2  how many at most
--   $3  the earliest end to look at
--   $4  how many lease rows to look at
--
-- Each row begins with how many lease rows there were: as many as $4 means that there may be more.  At
-- least one row; if nothing was locked, the others are NULL.  Walks idx_workflow_run_lease_until.
WITH due AS MATERIALIZED (
    SELECT l.ids
      FROM workflow.workflow_run_lease AS l
     WHERE l.until >= $3::timestamptz AND l.until < $1::timestamptz
     ORDER BY l.until
     LIMIT $4::bigint
), locked AS MATERIALIZED (
    SELECT {job.brief r}
      FROM workflow.workflow_run AS r
     WHERE r.id = ANY (ARRAY(SELECT unnest(due.ids) FROM due))
       AND r.status = 'leased' AND r.lease_until < $1::timestamptz
     ORDER BY r.lease_until
     LIMIT $2::bigint
       FOR NO KEY UPDATE SKIP LOCKED
)
SELECT looked.count, locked.*
  FROM (SELECT count(*) FROM due) AS looked
  LEFT JOIN locked ON true


-- name: replace_payloads
-- doing: update jobs
-- Writes the payloads of rows that this transaction has locked.
--
--   $1, $2  their ids and payloads
UPDATE workflow.workflow_run AS r
   SET payload = given.payload::jsonb
  FROM unnest($1::uuid[], $2::text[]) AS given (id, payload)
 WHERE r.id = given.id


-- name: settle_leases
-- doing: look at leases
-- Looks at lease rows that are due.  One without a leased job goes; others are moved to the earliest end
-- of a lease among their jobs.
--
--   $1  now
--   $2  how many rows at most, the earliest first
--   $3  the earliest end to look at
--   $4  when to look again, if no lease ends before
--
-- One row: how many were looked at, and how many of them are still due, since a lease has run out.  What
-- has become leased since this statement began has a row of its own.  Walks
-- idx_workflow_run_lease_until.
WITH due AS MATERIALIZED (
    SELECT l.id, l.until, l.ids
      FROM workflow.workflow_run_lease AS l
     WHERE l.until >= $3::timestamptz AND l.until < $1::timestamptz
     ORDER BY l.until
     LIMIT $2::bigint
       FOR UPDATE SKIP LOCKED
), looked AS MATERIALIZED (
    SELECT due.id, due.until, leased.until AS earliest
      FROM due
     CROSS JOIN LATERAL (
           SELECT min(r.lease_until) AS until
             FROM workflow.workflow_run AS r
            WHERE r.id = ANY (due.ids) AND r.status = 'leased') AS leased
), gone AS (
    DELETE FROM workflow.workflow_run_lease AS l
     USING looked
     WHERE l.id = looked.id AND looked.earliest IS NULL
), moved AS (
    UPDATE workflow.workflow_run_lease AS l
       SET until = least(looked.earliest, $4::timestamptz)
      FROM looked
     WHERE l.id = looked.id AND looked.earliest > looked.until
)
SELECT count(*), count(*) FILTER (WHERE looked.earliest < $1::timestamptz) FROM looked


-- name: add_leases
-- doing: note leases
-- Lease rows for jobs that are about to be leased, or until an earlier time than they are.
--
--   $1, $2  ids, ends of leases
INSERT INTO workflow.workflow_run_lease (until, ids)
SELECT given.until, ARRAY[given.id]
  FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, until)
 WHERE NOT EXISTS (SELECT
                     FROM workflow.workflow_run AS r
                    WHERE r.id = given.id
                      AND r.status = 'leased' AND r.lease_until <= given.until)


-- name: complete_jobs
-- Ends leases well.
--
--   $1  ids
--   $2..$4  workers, tokens and results: one for each, or one for all; a result of NULL leaves the old one
--   $5  now
--   $6  whether this clock is virtual
--   $7, $8  status, outcome
--   $9  an id for the first one's event, which those of the others follow; 0: they have none.  From 2^62 on: as in
--       insert_jobs
--
-- Each row begins with the time: the database's clock after all rows were locked, unless the clock is
-- virtual.  Then the number of the job in $1 and its attempt, last_event before and after, event_count, type,
-- schedule and is_counted.  At least one row; if nothing was written, these are NULL.  The ids of events are as in claim_jobs.
--
-- Locks in the order given, and skips what others hold.  A row is found once by its id, and from then on
-- where it lies (ctid); one that has changed since this statement began is left as it is.
WITH held AS MATERIALIZED (
    SELECT given.number, given.worker, given.token, given.result, lock.place, lock.last_event
      FROM (SELECT g.number, g.id, coalesce(g.worker, ($2::text[])[1]) AS worker,
                   coalesce(g.token, ($3::text[])[1]) AS token,
                   CASE cardinality($4::jsonb[]) WHEN 1 THEN ($4::jsonb[])[1] ELSE g.result END AS result
              FROM (SELECT generate_subscripts($1::uuid[], 1) AS number, unnest($1::uuid[]) AS id,
                           unnest($2::text[]) AS worker, unnest($3::text[]) AS token,
                           unnest($4::jsonb[]) AS result) AS g) AS given
     CROSS JOIN LATERAL (
           SELECT r.ctid AS place, r.last_event
             FROM workflow.workflow_run AS r
            WHERE r.id = given.id AND r.status = 'leased'
              AND r.leased_by = given.worker AND r.lease_token = given.token
              FOR NO KEY UPDATE SKIP LOCKED) AS lock
), moment AS MATERIALIZED (
    SELECT CASE WHEN $6::boolean OR locks.count < 0 THEN $5::timestamptz
                ELSE greatest($5::timestamptz, clock_timestamp()) END AS now
      FROM (SELECT count(*) FROM held) AS locks
), event (first) AS MATERIALIZED (
    SELECT CASE WHEN (SELECT max(held.last_event) FROM held) < own.first THEN own.first
                ELSE nextval('workflow.workflow_event_id_seq') << 12 END
      FROM (SELECT CASE WHEN $9::bigint >= 4611686018427387904
                        THEN $9::bigint - 4611686018427387904
                             + (currval('workflow.workflow_event_id_seq') << 12)
                        ELSE $9::bigint END) AS own (first)
     WHERE $9::bigint > 0
), done AS (
    UPDATE workflow.workflow_run AS r
       SET status        = $7::text,
           is_ready      = false,
           leased_by     = NULL,
           lease_token   = NULL,
           lease_until   = NULL,
           call_until    = NULL,
           ended_by      = held.worker,
           ended_token   = held.token,
           ended_outcome = $8::text,
           result        = coalesce(held.result, r.result),
           updated_at    = moment.now,
           last_event    = coalesce((SELECT event.first FROM event) + held.number - 1, r.last_event),
           event_count   = least(r.event_count, 2147483646) + CASE WHEN $9::bigint > 0 THEN 1 ELSE 0 END
      FROM moment, held
     WHERE r.ctid = held.place AND r.lease_until >= moment.now
    RETURNING held.number, r.attempt, held.last_event AS prev_event, r.last_event, r.event_count,
              r.type, r.schedule, r.is_counted
)
SELECT moment.now, done.number, done.attempt, done.prev_event, done.last_event, done.event_count,
       done.type, done.schedule, done.is_counted
  FROM moment
  LEFT JOIN done ON true


-- name: update_jobs
-- doing: write jobs
-- Writes the columns that may change, of rows that this transaction has locked.
--
--   $1..  an array for each of them and for the id; a result of NULL leaves the old one
UPDATE workflow.workflow_run AS r
   SET {job.changes r}
  FROM (SELECT {job.arrays changes}) AS given
 WHERE r.id = given.id


-- part: is_laned
-- Both tables are empty unless there are limits or groups.
(EXISTS (SELECT FROM workflow.workflow_group_type AS known WHERE known.type = @type)
 OR EXISTS (SELECT FROM workflow.workflow_limit AS known
             WHERE workflow.type_matches(@type, known.types)))


-- part: is_given
-- Whether the registry gives the type to a claim of this runtime.
NOT EXISTS (
    SELECT
      FROM workflow.workflow_registry AS g
     WHERE g.workflow_name = @type
       AND (NOT g.is_enabled OR g.runtime <> $1::text))


-- part: take_found
-- The end of a claim, which leases of the rows `found` the first ones that nobody holds.
head AS MATERIALIZED (
    SELECT found.place
      FROM found
     ORDER BY found.priority, found.seq
     LIMIT $3::bigint
), taken AS MATERIALIZED (
    -- In the order of the heads, one at a time, until there are enough.
    SELECT held.place, held.last_event
      FROM head
     CROSS JOIN LATERAL (
           SELECT r.ctid AS place, r.last_event
             FROM workflow.workflow_run AS r
            WHERE r.ctid = head.place
              AND r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL -- still claimable?
              AND r.run_at <= (SELECT moment.now FROM moment)
              FOR NO KEY UPDATE SKIP LOCKED) AS held
     LIMIT $4::bigint
), event (first) AS MATERIALIZED (
    SELECT CASE WHEN (SELECT max(taken.last_event) FROM taken) < own.first THEN own.first
                ELSE nextval('workflow.workflow_event_id_seq') << 12 END
      FROM (SELECT CASE WHEN $9::bigint >= 4611686018427387904
                        THEN $9::bigint - 4611686018427387904
                             + (currval('workflow.workflow_event_id_seq') << 12)
                        ELSE $9::bigint END) AS own (first)
     WHERE $10::int > 0
), leased AS (
    UPDATE workflow.workflow_run AS r
       SET status      = 'leased',
           is_ready    = false,
           leased_by   = coalesce(($5::text[])[taken.number], ($5::text[])[1]),
           lease_token = coalesce(($6::text[])[taken.number], ($6::text[])[1]),
           lease_until = $7::timestamptz,
           updated_at  = $2::timestamptz,
           last_event  = coalesce((SELECT event.first FROM event) + taken.number * $10::int - 1,
                                  r.last_event),
           event_count = least(r.event_count, 2147483647 - $10::int) + $10::int
      FROM (SELECT t.place, t.last_event AS prev_event, row_number() OVER () AS number
              FROM taken AS t) AS taken
     WHERE r.ctid = taken.place
    RETURNING r.*, taken.number, taken.prev_event
), looked AS MATERIALIZED (
    SELECT heads.count AS heads, locks.count AS locks,
           (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS us,
           pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS open,
           coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0) AS own,
           coalesce(pg_sequence_last_value('workflow.workflow_run_seq_seq'::regclass), 0) >> 8 AS last
      FROM (SELECT count(*) FROM head) AS heads, (SELECT count(*) FROM taken) AS locks
)


-- part: moment
-- What others have inserted may be a little later than $2, which the engine may have guessed.
moment (now) AS MATERIALIZED (
    SELECT CASE WHEN $11::boolean THEN $2::timestamptz
                ELSE greatest($2::timestamptz, statement_timestamp()) END
)


-- name: claim_jobs
-- Leases what is due and matches, lowest (priority, seq) first.
--
--   $1  the claim's runtime; NULL: any
--   $2  now
--   $3  how many heads to look at
--   $4  how many to lease at most
--   $5, $6  workers and tokens: for each row that is leased, or one of each for all
--   $7  end of the lease
--   $8  when to look at it
--   $9, $10  an id for the first event of the claim (from 2^62 on: as in insert_jobs); how many each row has
--   $11  whether this clock is virtual
--   $12..$15  ranges to read: type, lowest and highest priority, lowest (seq >> 8)
--   $16, $17  types to look for: from this one on, and before that one
--   $18  whether it is to be told what the ranges hold
--
-- Each row begins with how many heads there were: as many as $3 means that there may be more
-- behind them.  Then how many were locked: more than were leased means that some had changed since
-- this statement began, and that another may get them.  Then for mark.h: how long the walk took in
-- microseconds, where the open transactions begin, this transaction's own number (0 if it has none),
-- the (seq >> 8) that no new row is below, how many rows the walk had to read; and in the first row
-- alone, if $18 says so, of each of the given ranges that has rows, its number and the lowest (seq >> 8) found there;
-- then whether a type was left out because it has lanes (limit.sql).
-- Then the row's type, priority and (seq >> 8), and its columns; last its last_event before this claim.  At
-- least one row; if nothing was leased, these are NULL.  Rows come in the order in which they were locked,
-- but PostgreSQL does not promise it.
--
-- The ids of a row's events rise.  Another transaction that began after this one may have written to a
-- row: then the events of this claim have a new number.
--
-- Walks idx_workflow_run_type_prefix alone: from one type to the next that has work, now or later
-- (one probe each), then the first rows of every type that are ready, in whole groups of those that
-- share a key there.
-- Locks only what it takes, and skips what others hold.  A row is read once by the index, and from
-- then on found where it lies (ctid).
WITH RECURSIVE {moment}, walk (before, type) AS (
    SELECT g.before, first.type
      FROM unnest($16::text[], $17::text[]) AS g (first, before)
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
      FROM unnest($12::text[], $13::bigint[], $14::bigint[], $15::bigint[])
           WITH ORDINALITY AS g (type, lowest, highest, mark, number)
    UNION ALL
    SELECT NULL, walk.type, -2147483648, 2147483647, 0 FROM walk
), known (number, type, lowest, highest, mark, is_laned) AS MATERIALIZED (
    SELECT range.number, range.type, range.lowest, range.highest, range.mark,
           {is_laned range}
      FROM range
     WHERE {is_given range}
), found AS MATERIALIZED (
    SELECT range.number, h.place, h.priority, h.seq
      FROM known AS range
     CROSS JOIN LATERAL (
           SELECT r.ctid AS place, r.priority, r.seq
             FROM workflow.workflow_run AS r
            WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
              AND r.type = range.type AND r."group" = ''
              AND r.priority >= range.lowest AND r.priority <= range.highest
              AND (r.seq >> 8) >= range.mark
              AND r.run_at <= (SELECT moment.now FROM moment)
            ORDER BY r.priority, (r.seq >> 8)
            FETCH FIRST ($3::bigint) ROWS WITH TIES) AS h
     WHERE NOT range.is_laned
), {take_found}, noted AS (
    INSERT INTO workflow.workflow_run_lease (until, ids)
    SELECT $8::timestamptz, array_agg(l.id) FROM leased AS l GROUP BY (l.number - 1) / 100
)
SELECT looked.heads, looked.locks, looked.us, looked.open, looked.own, looked.last, looked.heads,
       CASE WHEN $18::boolean AND row_number() OVER () = 1 THEN (
            SELECT string_agg(low.number || ' ' || low.key, ' ')
              FROM (SELECT found.number, min(found.seq) >> 8 AS key
                      FROM found
                     WHERE found.number IS NOT NULL
                     GROUP BY found.number) AS low) END,
       (SELECT coalesce(bool_or(known.is_laned), false) FROM known),
       r.type, r.priority, r.seq >> 8,
       {job.columns r}, r.prev_event
  FROM looked
  LEFT JOIN leased AS r ON true


-- name: claim_jobs_of_type
-- doing: claim jobs
-- claim_jobs of one type from its beginning, and of no more than one lease row has room for.  Most claims are such;
-- what they do not need is not started.
--
--   $1..$11  as in claim_jobs
--   $12  the type
WITH {moment}, known (is_laned, is_given) AS MATERIALIZED (
    SELECT {is_laned given},
           {is_given given}
      FROM (SELECT $12::text COLLATE "C") AS given (type)
), found AS (
    SELECT r.ctid AS place, r.priority, r.seq
      FROM workflow.workflow_run AS r
     WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
       AND r.type = $12::text COLLATE "C" AND r."group" = ''
       AND r.run_at <= (SELECT moment.now FROM moment)
       AND (SELECT known.is_given AND NOT known.is_laned FROM known)
     ORDER BY r.priority, (r.seq >> 8)
     FETCH FIRST ($3::bigint) ROWS WITH TIES
), {take_found}, noted AS (
    INSERT INTO workflow.workflow_run_lease (until, ids)
    SELECT $8::timestamptz, array_agg(l.id) FROM leased AS l HAVING count(*) > 0
)
SELECT looked.heads, looked.locks, looked.us, looked.open, looked.own, looked.last, looked.heads,
       NULL::text, (SELECT known.is_given AND known.is_laned FROM known),
       r.type, r.priority, r.seq >> 8,
       {job.columns r}, r.prev_event
  FROM looked
  LEFT JOIN leased AS r ON true


-- name: check_jobs
-- doing: claim jobs
-- The first row of one type and priority that can be claimed, of a part of the index.
--
--   $1, $2  type, priority
--   $3, $4  from this (seq >> 8) on, and before that one
--
-- One row: its (seq >> 8), NULL for none; how long the walk took in microseconds.  Walks
-- idx_workflow_run_type_prefix.
SELECT (SELECT r.seq >> 8
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND r.is_ready AND r.deleted_at IS NULL
           AND r.type = $1::text COLLATE "C" AND r."group" = ''
           AND r.priority = $2::int
           AND (r.seq >> 8) >= $3::bigint AND (r.seq >> 8) < $4::bigint
         ORDER BY (r.seq >> 8)
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint


-- name: find_claimed
-- doing: find claimed jobs
-- The jobs leased under this worker and token, in the claim's order.
--
--   $1, $2  worker, token
--   $3      how many at most
--
-- Looks at what is leased now; asked only after a commit with an unknown end.
SELECT {job.columns r}
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
   AND r.status = 'leased'
   AND r.leased_by = $1::text
   AND r.lease_token = $2::text
 ORDER BY r.priority, r.seq
 LIMIT $3::bigint


-- name: get_job
-- doing: read a job
-- One row, deleted or not.
--
--   $1  id
SELECT {job.columns r}
  FROM workflow.workflow_run AS r
 WHERE r.id = $1::uuid


-- name: find_ended
-- doing: look for ends
-- Which of these jobs and instances have not ended.
--
--   $1  their ids
--
-- A row for each that has not: which of the given ones it is, from 1.
SELECT given.ordinal
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
 WHERE EXISTS (SELECT FROM workflow.workflow_run AS r
                WHERE r.id = given.id AND r.status IN ('pending', 'leased'))
    OR EXISTS (SELECT FROM workflow.workflow_instance AS i
                WHERE i.id = given.id
                  AND i.status NOT IN ('completed', 'failed', 'cancelled', 'aborted'))


-- name: count_jobs
-- How many jobs wait, how many of them are due and since when, how many are leased.
--
--   $1  now
--
-- Reads the index of what is pending, and what is leased; not the history.
SELECT waiting.pending, waiting.ready, leased.count, waiting.oldest
  FROM (SELECT count(*) AS pending,
               count(*) FILTER (WHERE r.run_at <= $1::timestamptz) AS ready,
               min(r.run_at) FILTER (WHERE r.run_at <= $1::timestamptz) AS oldest
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND r.deleted_at IS NULL) AS waiting,
       (SELECT count(*)
          FROM workflow.workflow_run AS r
         WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
           AND r.status = 'leased') AS leased
