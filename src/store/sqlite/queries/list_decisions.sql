-- list_decisions: what was decided about an instance's human steps, oldest first.
--
--   :instance_id  whose
--   :room         at most this many
--
-- Walks idx_workflow_human_decision_instance.

SELECT instance_id, step_seq, step_name, decided_by, decision, comment, decided_at
  FROM workflow_human_decision INDEXED BY idx_workflow_human_decision_instance
 WHERE instance_id = :instance_id
 ORDER BY id
 LIMIT :room;
