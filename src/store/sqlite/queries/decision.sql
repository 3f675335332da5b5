-- name: insert_decision
-- What somebody decided about a human step.
--
--   one parameter for each column; see the table
INSERT INTO workflow_human_decision (instance_id, step_seq, step_name, decided_by, decision,
                                     comment, decided_at)
VALUES (:instance_id, :step_seq, :step_name, :decided_by, :decision, :comment, :decided_at);


-- name: list_decisions
-- What was decided about an instance's human steps, oldest first.
--
--   :instance_id  whose
--   :after        those behind this id
--   :room         at most this many
--
-- Walks idx_workflow_human_decision_instance.
SELECT id, instance_id, step_seq, step_name, decided_by, decision, comment, decided_at
  FROM workflow_human_decision INDEXED BY idx_workflow_human_decision_instance
 WHERE instance_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;
