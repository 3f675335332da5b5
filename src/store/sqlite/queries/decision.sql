-- name: insert_decision
-- doing: record a decision
-- A decision about a human step.
INSERT INTO workflow_human_decision ({decision.insert})
VALUES ({decision.values});


-- name: list_decisions
-- What was decided about an instance's human steps, oldest first.
--
--   :instance_id  whose
--   :after        those behind this id
--   :room         at most this many
--
-- Walks idx_workflow_human_decision_instance.
SELECT {decision.columns}
  FROM workflow_human_decision INDEXED BY idx_workflow_human_decision_instance
 WHERE instance_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: list_latest_decisions
-- doing: list decisions
-- What was decided about human steps, newest first.
--
--   :before  those with a lower id
--   :room    how many at most
SELECT {decision.columns}
  FROM workflow_human_decision
 WHERE id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: list_undecided
-- doing: list approvals
-- Steps that wait for a decision until a time, whole, with their instances' ids.
--
--   :deadline, :instance_seq, :seq  those behind this place
--   :room                           how many at most
--
-- Walks idx_workflow_step_undecided.
SELECT {step.columns step}, instance.id AS instance_id
  FROM workflow_step AS step INDEXED BY idx_workflow_step_undecided
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.status = 'waiting_decision'
   AND (step.deadline_at, step.id) > (:deadline, (:instance_seq << 20) + :seq)
 ORDER BY step.deadline_at, step.id
 LIMIT :room;


-- name: list_undecided_without_end
-- doing: list approvals
-- The same of those that wait without limit.
--
--   :instance_seq, :seq  those behind this place
SELECT {step.columns step}, instance.id AS instance_id
  FROM workflow_step AS step INDEXED BY idx_workflow_step_undecided
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.status = 'waiting_decision'
   AND step.deadline_at IS NULL
   AND step.id > (:instance_seq << 20) + :seq
 ORDER BY step.id
 LIMIT :room;


-- name: count_undecided
-- doing: count approvals
-- How many steps wait for a decision.
--
--   :workflow  of this one; NULL: of all
--   :most      how many are looked at
SELECT count(*)
  FROM (SELECT id
          FROM workflow_step INDEXED BY idx_workflow_step_undecided
         WHERE status = 'waiting_decision'
         LIMIT :most) AS step
 WHERE :workflow IS NULL
    OR EXISTS (SELECT 1
                 FROM workflow_instance AS instance
                WHERE instance.seq = step.id >> 20
                  AND instance.workflow = :workflow);
