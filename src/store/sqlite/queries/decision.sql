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
