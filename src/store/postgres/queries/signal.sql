-- name: insert_signal
-- doing: write a signal
-- A new signal, unless its id is known.
--
--   $1..  an array for each column
--
-- Returns its seq; no row if it was known.
INSERT INTO workflow.workflow_signal
       ({signal.insert})
SELECT {signal.values}
  FROM (SELECT {signal.arrays insert}) AS given
ON CONFLICT DO NOTHING
RETURNING seq


-- name: find_known_signal
-- doing: find a signal
-- The seq of the signal with this id, and whether its sender was told "taken".
--
--   $1, $2  instance, id
--
-- Earlier versions did not keep the answer: there taken_by is the best guess.
SELECT g.seq, coalesce(g.was_taken, g.taken_by IS NOT NULL)
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.id = $2::text


-- name: find_signal
-- doing: find a signal
-- The oldest signal of an event that is not taken.
--
--   $1, $2  instance, event
--   $3      received at or before this time
SELECT {signal.columns g}
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.event = $2::text
   AND g.taken_by IS NULL
   AND g.received_at <= $3::timestamptz
 ORDER BY g.seq
 LIMIT 1


-- name: list_signals
-- Signals that are not taken, in the order of the instances, oldest first.
--
--   $1  instances
--   $2  of the first only those after this one
--   $3  how many at most
--
-- Few are not taken, perhaps many are: idx_workflow_signal_untaken finds the former, and those of
-- one instance are put in order afterwards.  Asked for both at once, the planner would walk the
-- primary key.
SELECT {signal.columns s}
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
 CROSS JOIN LATERAL (
         WITH untaken AS MATERIALIZED (
              SELECT g.*
                FROM workflow.workflow_signal AS g
               WHERE g.instance_id = given.id
                 AND g.taken_by IS NULL)
       SELECT u.*
         FROM untaken AS u
        WHERE u.seq > CASE given.ordinal WHEN 1 THEN $2::bigint ELSE 0 END
        ORDER BY u.seq) AS s
 LIMIT $3::bigint


-- name: mark_signal
-- doing: write a signal
-- Says which step has taken a signal.
--
--   $1  instance
--   $2  the signal's seq
--   $3  the step's place; NULL: none
UPDATE workflow.workflow_signal AS g
   SET taken_by = $3::int
 WHERE g.instance_id = $1::uuid
   AND g.seq = $2::bigint


-- name: keep_signal_taken
-- doing: write a signal
-- The sender of a signal is told that it was taken.
--
--   $1  instance
--   $2  the signal's seq
UPDATE workflow.workflow_signal AS g
   SET was_taken = true
 WHERE g.instance_id = $1::uuid
   AND g.seq = $2::bigint


-- name: unmark_signals
-- doing: write signals
-- Gives back the signals that a step has taken, or all of the instance's.
--
--   $1  instance
--   $2  the step's place; NULL: all
UPDATE workflow.workflow_signal AS g
   SET taken_by = NULL
 WHERE g.instance_id = $1::uuid
   AND g.taken_by IS NOT NULL
   AND ($2::int IS NULL OR g.taken_by = $2::int)


-- name: list_all_signals
-- doing: list signals
-- Signals of an instance, oldest first.
--
--   $1  instance
--   $2  only those after this one
--   $3  how many at most
SELECT {signal.columns g}
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.seq > $2::bigint
 ORDER BY g.seq
 LIMIT $3::bigint
