-- name: insert_decision
-- doing: write a decision
-- A decision about a human step.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_human_decision
       ({decision.insert})
SELECT {decision.values}
  FROM (SELECT {decision.arrays insert}) AS given


-- name: list_decisions
-- What was decided about an instance's human steps, oldest first.
--
--   $1  instance
--   $2  those behind this id
--   $3  how many at most
SELECT {decision.columns h}
  FROM workflow.workflow_human_decision AS h
 WHERE h.instance_id = $1::uuid
   AND h.id > $2::bigint
 ORDER BY h.id
 LIMIT $3::bigint


-- name: list_latest_decisions
-- doing: list decisions
-- What was decided about human steps, newest first.
--
--   $1  those with a lower id
--   $2  how many at most
SELECT {decision.columns h}
  FROM workflow.workflow_human_decision AS h
 WHERE h.id < $1::bigint
 ORDER BY h.id DESC
 LIMIT $2::bigint


-- name: list_undecided
-- doing: list approvals
-- Steps that wait for a decision until a time.
--
--   $1, $2, $3  those behind this deadline, number of an instance and place
--   $4          how many at most
--
-- Walks idx_workflow_step_undecided.
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.status = 'waiting_decision'
   AND (s.deadline_at, s.instance_seq, s.seq) > ($1::timestamptz, $2::bigint, $3::int)
 ORDER BY s.deadline_at, s.instance_seq, s.seq
 LIMIT $4::bigint


-- name: list_undecided_without_end
-- doing: list approvals
-- The same of those that wait without limit.
--
--   $1, $2  those behind this number of an instance and place
--   $3      how many at most
SELECT {step.columns s}
  FROM workflow.workflow_step AS s
 WHERE s.status = 'waiting_decision'
   AND s.deadline_at IS NULL
   AND (s.instance_seq, s.seq) > ($1::bigint, $2::int)
 ORDER BY s.deadline_at, s.instance_seq, s.seq
 LIMIT $3::bigint


-- name: count_undecided
-- doing: count approvals
-- How many steps wait for a decision.
--
--   $1  of this workflow; NULL: of all
--   $2  how many are looked at
SELECT count(*)
  FROM (SELECT s.instance_id
          FROM workflow.workflow_step AS s
         WHERE s.status = 'waiting_decision'
         LIMIT $2::bigint) AS step
 WHERE $1::text IS NULL
    OR EXISTS (SELECT
                 FROM workflow.workflow_instance AS i
                WHERE i.id = step.instance_id
                  AND i.workflow = $1::text)
