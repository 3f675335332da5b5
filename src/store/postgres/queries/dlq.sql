-- name: count_needs
-- doing: count what waits for a person
-- Decisions that are awaited, and open dead letters.
--
--   $1  how many are counted
SELECT (SELECT count(*)
          FROM (SELECT 1
                  FROM workflow.workflow_step
                 WHERE status = 'waiting_decision'
                 LIMIT $1::bigint) AS s),
       (SELECT count(*)
          FROM (SELECT 1
                  FROM workflow.workflow_dlq
                 WHERE is_open
                 LIMIT $1::bigint) AS d)


-- name: count_halts
-- doing: count what waits for a person
-- Of the newest instances that are paused those that nobody has paused: by a failure, and because their code does not
-- match; and of the newest open records those of compensations.  As in scan_instance_errors no status is compared for being
-- equal.
--
--   $1  how many of each are looked at
WITH paused AS (
    SELECT i.paused_by, i.last_error
      FROM workflow.workflow_instance AS i
     WHERE i.status >= 'paused' AND i.status <= 'paused'
     ORDER BY i.status DESC, i.seq DESC
     LIMIT $1::bigint
)
SELECT (SELECT count(*) FILTER (WHERE strpos(p.last_error::text, 'version_mismatch') = 0)
          FROM paused AS p WHERE p.paused_by IS NULL),
       (SELECT count(*) FILTER (WHERE strpos(p.last_error::text, 'version_mismatch') > 0)
          FROM paused AS p WHERE p.paused_by IS NULL),
       (SELECT count(*) FILTER (WHERE starts_with(d.reason, 'compensation'))
          FROM (SELECT q.reason
                  FROM workflow.workflow_dlq AS q
                 WHERE q.is_open
                 ORDER BY q.id DESC
                 LIMIT $1::bigint) AS d)


-- name: append_dlq
-- doing: write DLQ records
-- New records, in the order given.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_dlq
       ({dlq.insert})
SELECT {dlq.values}
  FROM (SELECT {dlq.arrays insert}) AS given


-- name: close_dlq
-- doing: write DLQ records
-- The open records of an instance, or of one step, are settled.
--
--   $1  instance
--   $2  the step's place; NULL: all
UPDATE workflow.workflow_dlq AS q
   SET is_open = false
 WHERE q.instance_id = $1::uuid
   AND q.is_open
   AND ($2::int IS NULL OR q.step_seq = $2::int)


-- name: get_dlq
-- doing: read a DLQ record
-- One record, open or not.
--
--   $1  id
SELECT {dlq.columns q}
  FROM workflow.workflow_dlq AS q
 WHERE q.id = $1::bigint


-- name: list_dlq
-- doing: list DLQ records
-- Open records, newest first.
--
--   $1  only records before this id
--   $2  how many at most
SELECT {dlq.columns q}
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint


-- name: list_dlq_of_instance
-- doing: list DLQ records
-- The open records of one instance, newest first.
--
--   $1  only records before this id
--   $2  how many at most
--   $3  instance
SELECT {dlq.columns q}
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.instance_id = $3::uuid
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint


-- name: scan_dlq
-- doing: list DLQ records
-- As list_dlq, with the beginning of the input alone; the last result is its length.
--
--   $1  only records before this id
--   $2  how many at most
SELECT {dlq.columns q but input},
       left(q.input::text, 120),
       octet_length(q.input::text)
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint
