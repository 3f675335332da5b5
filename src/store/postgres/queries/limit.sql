-- name: put_limit
-- doing: write a limit
-- One, new or in place of the one with that name.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_limit
       ({limit.insert})
SELECT {limit.values}
  FROM (SELECT {limit.arrays insert}) AS given
ON CONFLICT (name) DO UPDATE
   SET {limit.excluded}


-- name: count_leased_jobs
-- doing: count leases
-- Jobs that are leased and match count from now on.
--
--   $1  a pattern
--
-- Reads the lease rows, as all questions about leases do.
UPDATE workflow.workflow_run AS r
   SET is_counted = true
 WHERE r.id IN (SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l)
   AND r.status = 'leased' AND NOT r.is_counted
   AND workflow.type_matches(r.type, $1::text)


-- name: count_leased_steps
-- doing: count leases
-- Steps that are leased and match count from now on.
--
--   $1  a pattern
--
-- Reads idx_workflow_step_leased.
UPDATE workflow.workflow_step AS s
   SET is_counted = true
 WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL AND NOT s.is_counted
   AND workflow.type_matches(s.task_type, $1::text)


-- name: get_limit
-- doing: read a limit
-- One.
--
--   $1  name
SELECT {limit.columns l}
  FROM workflow.workflow_limit AS l
 WHERE l.name = $1::text


-- name: list_limits
-- In order of name.
--
--   $1  only names after this one
--   $2  how many at most
SELECT {limit.columns l}
  FROM workflow.workflow_limit AS l
 WHERE l.name > $1::text
 ORDER BY l.name
 LIMIT $2::bigint


-- name: delete_limit
-- doing: remove a limit
-- One, with its buckets.
--
--   $1  name
WITH buckets AS (
    DELETE FROM workflow.workflow_limit_bucket AS b WHERE b.limit_name = $1::text
)
DELETE FROM workflow.workflow_limit AS l
 WHERE l.name = $1::text


-- name: lock_limits
-- Only one transaction at a time counts leases.  What it reads after this is what the one before has
-- committed: a statement of its own, since a statement sees what was committed when it began.
SELECT g.id
  FROM workflow.workflow_limit_gate AS g
 WHERE g.id = 1
   FOR UPDATE


-- name: count_leases
-- How many leases count, of each type and group: of jobs, and of steps.  Then the turns, without a type: group and
-- number.
--
-- Reads idx_workflow_run_counted and idx_workflow_step_counted, which are as long as there are such leases.
SELECT r.type, r."group", count(*)
  FROM workflow.workflow_run AS r
 WHERE r.status = 'leased' AND r.is_counted
 GROUP BY r.type, r."group"
 UNION ALL
SELECT s.task_type, s."group", count(*)
  FROM workflow.workflow_step AS s
 WHERE s.locked_by IS NOT NULL AND s.is_counted
 GROUP BY s.task_type, s."group"
 UNION ALL
SELECT NULL, t."group", t.number
  FROM workflow.workflow_limit_turn AS t


-- name: list_buckets
-- doing: read a limit
-- What is spent of a rate.
--
--   $1  name of the limit
SELECT {bucket.columns b}
  FROM workflow.workflow_limit_bucket AS b
 WHERE b.limit_name = $1::text


-- name: put_buckets
-- doing: write a limit
-- What is spent of rates; a level of 0 removes the row.
--
--   $1..  an array for each column
WITH given AS MATERIALIZED (
    SELECT {bucket.arrays insert}
), gone AS (
    DELETE FROM workflow.workflow_limit_bucket AS b
     USING given
     WHERE b.limit_name = given.limit_name AND b."group" = coalesce(given."group", '')
       AND coalesce(given.level, 0) = 0
)
INSERT INTO workflow.workflow_limit_bucket
       ({bucket.insert})
SELECT {bucket.values}
  FROM given
 WHERE given.level > 0
ON CONFLICT (limit_name, "group") DO UPDATE
   SET {bucket.excluded}


-- name: put_turns
-- doing: write a limit
-- Which groups were served last.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_limit_turn
       ({turn.insert})
SELECT {turn.values}
  FROM (SELECT {turn.arrays insert}) AS given
ON CONFLICT (number) DO UPDATE
   SET {turn.excluded}


-- name: add_group_types
-- doing: note types with groups
-- These types have lanes from now on.
--
--   $1  types
INSERT INTO workflow.workflow_group_type (type)
SELECT given.type
  FROM unnest($1::text[]) AS given (type)
 ORDER BY given.type
ON CONFLICT DO NOTHING


-- part: is_waiting
@status = 'pending' AND @is_ready AND @deleted_at IS NULL


-- part: has_lanes
-- Whether a type has groups or a limit, and neither is disabled nor given to another runtime than $7.
(EXISTS (SELECT FROM workflow.workflow_group_type AS g WHERE g.type = @type)
 OR EXISTS (SELECT FROM workflow.workflow_limit AS l
             WHERE workflow.type_matches(@type, l.types)))
AND NOT EXISTS (
    SELECT
      FROM workflow.workflow_registry AS g
     WHERE g.workflow_name = @type
       AND (NOT g.is_enabled OR g.runtime <> $7::text))


-- name: list_job_lanes
-- doing: find groups with jobs
-- Lanes: types that have lanes, and their groups that have a job to claim.
--
--   $1..$4  ranges of types, as in claim_jobs; priorities and marks are not looked at
--   $5, $6  types to look for: from this one on, and before that one
--   $7  the claim's runtime; NULL: any
--   $8, $9  the first group and the last; NULL: all that follow
--   $10  how many of each type at most
--
-- Rows (type, group).  Leaps through idx_workflow_run_type_prefix: one probe for each type with work, and one for
-- each group of one that has lanes.
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
), laned (type) AS MATERIALIZED (
    SELECT DISTINCT named.type
      FROM (SELECT g.type
              FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
                   AS g (type, lowest, highest, mark)
             UNION ALL
            SELECT walk.type FROM walk) AS named
     WHERE {has_lanes named}
), lane (type, "group", number) AS (
    SELECT laned.type, first."group", 1
      FROM laned
     CROSS JOIN LATERAL (
           SELECT r."group"
             FROM workflow.workflow_run AS r
            WHERE {is_waiting r}
              AND r.type = laned.type COLLATE "C" AND r."group" >= $8::text
            ORDER BY r."group"
            LIMIT 1) AS first
    UNION ALL
    SELECT lane.type, next."group", lane.number + 1
      FROM lane
     CROSS JOIN LATERAL (
           SELECT r."group"
             FROM workflow.workflow_run AS r
            WHERE {is_waiting r}
              AND r.type = lane.type COLLATE "C" AND r."group" > lane."group"
            ORDER BY r."group"
            LIMIT 1) AS next
     WHERE lane.number < $10::bigint
       AND ($9::text IS NULL OR lane."group" < $9::text)
)
SELECT lane.type, lane."group"
  FROM lane
 WHERE $9::text IS NULL OR lane."group" <= $9::text


-- name: claim_job_lanes
-- doing: claim jobs
-- Leases jobs of lanes: the head of each, then the second of each, and so on.
--
--   $1..$3  of each lane: type, group, how many at most
--   $4  whether a limit counts them
--   $5  now
--   $6, $7  workers and tokens: for each row that is leased, or one of each for all
--   $8  end of the lease
--   $9  when to look at it
--   $10, $11  an id for the first event of the claim (from 2^62 on: as in insert_jobs); how many each row has
--   $12  whether this clock is virtual
--
-- The columns of each row, in order; last its last_event before this claim.  The ids of events are as in
-- claim_jobs.  Walks idx_workflow_run_type_prefix, from the beginning of each lane.
WITH moment (now) AS MATERIALIZED (
    SELECT CASE WHEN $12::boolean THEN $5::timestamptz
                ELSE greatest($5::timestamptz, statement_timestamp()) END
), taken AS MATERIALIZED (
    SELECT held.place, held.last_event, lane.is_counted,
           row_number() OVER (ORDER BY held.rank, lane.number) AS number
      FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
           WITH ORDINALITY AS lane (type, "group", quota, is_counted, number)
     CROSS JOIN LATERAL (
           SELECT head.rank, lock.place, lock.last_event
             FROM (SELECT h.place, row_number() OVER (ORDER BY h.priority, h.seq) AS rank
                     FROM (SELECT r.ctid AS place, r.priority, r.seq
                             FROM workflow.workflow_run AS r
                            WHERE {is_waiting r}
                              AND r.type = lane.type COLLATE "C" AND r."group" = lane."group"
                              AND r.run_at <= (SELECT moment.now FROM moment)
                            ORDER BY r.priority, (r.seq >> 8)
                            FETCH FIRST (lane.quota + 8) ROWS WITH TIES) AS h
                    ORDER BY h.priority, h.seq) AS head
            CROSS JOIN LATERAL (
                  SELECT r.ctid AS place, r.last_event
                    FROM workflow.workflow_run AS r
                   WHERE r.ctid = head.place
                     AND {is_waiting r} -- still claimable?
                     AND r.run_at <= (SELECT moment.now FROM moment)
                     FOR NO KEY UPDATE SKIP LOCKED) AS lock
            LIMIT lane.quota) AS held
), event (first) AS MATERIALIZED (
    SELECT CASE WHEN (SELECT max(taken.last_event) FROM taken) < own.first THEN own.first
                ELSE nextval('workflow.workflow_event_id_seq') << 12 END
      FROM (SELECT CASE WHEN $10::bigint >= 4611686018427387904
                        THEN $10::bigint - 4611686018427387904
                             + (currval('workflow.workflow_event_id_seq') << 12)
                        ELSE $10::bigint END) AS own (first)
     WHERE $11::int > 0
), leased AS (
    UPDATE workflow.workflow_run AS r
       SET status      = 'leased',
           is_ready    = false,
           is_counted  = taken.is_counted = 1,
           leased_by   = coalesce(($6::text[])[taken.number], ($6::text[])[1]),
           lease_token = coalesce(($7::text[])[taken.number], ($7::text[])[1]),
           lease_until = $8::timestamptz,
           updated_at  = $5::timestamptz,
           last_event  = coalesce((SELECT event.first FROM event) + taken.number * $11::int - 1,
                                  r.last_event),
           event_count = least(r.event_count, 2147483647 - $11::int) + $11::int
      FROM taken
     WHERE r.ctid = taken.place
    RETURNING r.*, taken.number, taken.last_event AS prev_event
), noted AS (
    INSERT INTO workflow.workflow_run_lease (until, ids)
    SELECT $9::timestamptz, array_agg(l.id) FROM leased AS l GROUP BY (l.number - 1) / 100
)
SELECT {job.columns r}, r.prev_event
  FROM leased AS r
 ORDER BY r.number


-- name: list_step_lanes
-- doing: find groups with steps
-- Lanes: types that have lanes, and their groups that have a step to claim.
--
--   $1..$4  ranges of types and versions, as in claim_steps; marks are not looked at
--   $5, $6  types to look for: from this one on, and before that one
--   $7  the claim's runtime; NULL: any
--   $8, $9  the first group and the last; NULL: all that follow
--   $10  how many of each type at most
--
-- Rows (type, group, first version, last version, whether there is a step of these versions).  Leaps through
-- idx_workflow_step_ready: one probe for each type with work, and two for each group of one that has lanes.
WITH RECURSIVE walk (before, type) AS (
    SELECT g.before, first.task_type
      FROM (SELECT e.first COLLATE "C", e.before COLLATE "C"
              FROM unnest($5::text[], $6::text[]) AS e (first, before)) AS g (first, before)
     CROSS JOIN LATERAL (
           SELECT s.task_type
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type >= g.first AND s.task_type < g.before
            ORDER BY s.task_type
            LIMIT 1) AS first
    UNION ALL
    SELECT walk.before, next.task_type
      FROM walk
     CROSS JOIN LATERAL (
           SELECT s.task_type
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type > walk.type AND s.task_type < walk.before
            ORDER BY s.task_type
            LIMIT 1) AS next
), laned (type, first, last) AS MATERIALIZED (
    SELECT DISTINCT named.type, named.first, named.last
      FROM (SELECT g.type COLLATE "C", (greatest(g.lowest, 0) >> 7)::int,
                   (least(g.highest, 274877906943) >> 7)::int
              FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
                   AS g (type, lowest, highest, mark)
             UNION ALL
            SELECT walk.type, 0, 2147483647 FROM walk) AS named (type, first, last)
     WHERE {has_lanes named}
), lane (type, first, last, "group", number) AS (
    SELECT laned.type, laned.first, laned.last, first."group", 1
      FROM laned
     CROSS JOIN LATERAL (
           SELECT s."group"
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type = laned.type AND s."group" >= $8::text
            ORDER BY s."group"
            LIMIT 1) AS first
    UNION ALL
    SELECT lane.type, lane.first, lane.last, next."group", lane.number + 1
      FROM lane
     CROSS JOIN LATERAL (
           SELECT s."group"
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type = lane.type AND s."group" > lane."group"
            ORDER BY s."group"
            LIMIT 1) AS next
     WHERE lane.number < $10::bigint
       AND ($9::text IS NULL OR lane."group" < $9::text)
)
SELECT lane.type, lane."group", lane.first, lane.last,
       EXISTS (SELECT
                 FROM workflow.workflow_step AS s
                WHERE s.is_ready AND s.task_type = lane.type AND s."group" = lane."group"
                  AND s.version BETWEEN lane.first AND lane.last)
  FROM lane
 WHERE $9::text IS NULL OR lane."group" <= $9::text


-- name: claim_step_lanes
-- doing: claim steps
-- Leases steps of lanes: the head of each, then the second of each, and so on.
--
--   $1..$6  of each lane: type, group, how many at most, whether a limit counts them, first and last version
--   $7  now
--   $8, $9  workers and tokens: for each row that is leased, or one of each for all
--   $10  end of the lease
--   $11  how many points a second of waiting is worth
--
-- The columns of each row, in order.  Within a lane the order is that of claim_steps: idx_workflow_step_ready is
-- walked from one version and priority to the next, and of each the first rows are read.
WITH RECURSIVE lane (number, type, "group", quota, is_counted, first, last) AS MATERIALIZED (
    SELECT g.number, g.type COLLATE "C", g."group" COLLATE "C", g.quota, g.is_counted = 1,
           g.first::int, g.last::int
      FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
           WITH ORDINALITY AS g (type, "group", quota, is_counted, first, last, number)
), turn (number, version, priority) AS (
    SELECT lane.number, first.*
      FROM lane
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type = lane.type AND s."group" = lane."group"
              AND s.version >= lane.first AND s.version <= lane.last
            ORDER BY s.version, s.priority
            LIMIT 1) AS first
    UNION ALL
    SELECT turn.number, next.*
      FROM turn
      JOIN lane ON lane.number = turn.number
     CROSS JOIN LATERAL (
           SELECT s.version, s.priority
             FROM workflow.workflow_step AS s
            WHERE s.is_ready AND s.task_type = lane.type AND s."group" = lane."group"
              AND (s.version, s.priority) > (turn.version, turn.priority)
              AND s.version <= lane.last
            ORDER BY s.version, s.priority
            LIMIT 1) AS next
), taken AS MATERIALIZED (
    SELECT held.place, lane.is_counted,
           row_number() OVER (ORDER BY held.rank, lane.number) AS number
      FROM lane
     CROSS JOIN LATERAL (
           SELECT lock.place, head.rank
             FROM (SELECT h.place,
                          row_number() OVER (ORDER BY h.effective DESC, h.next_run_at NULLS FIRST,
                                                      h.instance_seq, h.seq) AS rank
                     FROM turn
                    CROSS JOIN LATERAL (
                          SELECT s.ctid AS place, s.next_run_at, s.instance_seq, s.seq,
                                 workflow.effective_priority(turn.priority, s.next_run_at,
                                                             $7::timestamptz, $11::float8)
                                 AS effective
                            FROM workflow.workflow_step AS s
                           WHERE s.is_ready AND s.task_type = lane.type AND s."group" = lane."group"
                             AND s.version = turn.version AND s.priority = turn.priority
                           ORDER BY s.next_run_at NULLS FIRST, s.instance_seq, s.seq
                           LIMIT lane.quota + 8) AS h
                    WHERE turn.number = lane.number
                    ORDER BY rank) AS head
            CROSS JOIN LATERAL (
                  SELECT s.ctid AS place
                    FROM workflow.workflow_step AS s
                   WHERE s.ctid = head.place
                     AND s.is_ready -- still claimable?
                     FOR NO KEY UPDATE SKIP LOCKED) AS lock
            LIMIT lane.quota) AS held
), leased AS (
    UPDATE workflow.workflow_step AS s
       SET status       = CASE s.status WHEN 'ready' THEN 'running' ELSE s.status END,
           is_ready     = false,
           is_counted   = taken.is_counted,
           locked_by    = coalesce(($8::text[])[taken.number], ($8::text[])[1]),
           token        = coalesce(($9::text[])[taken.number], ($9::text[])[1]),
           locked_until = $10::timestamptz,
           due_at       = $10::timestamptz + interval '1 microsecond',
           started_at   = coalesce(s.started_at, $7::timestamptz),
           updated_at   = $7::timestamptz
      FROM taken
     WHERE s.ctid = taken.place
    RETURNING s.*, taken.number
)
SELECT {step.columns s}
  FROM leased AS s
 ORDER BY s.number
