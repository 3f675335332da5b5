-- insert_decision: what somebody decided about a human step.
--
--   one parameter for each column; see the table

INSERT INTO workflow_human_decision (instance_id, step_seq, step_name, decided_by, decision,
                                     comment, decided_at)
VALUES (:instance_id, :step_seq, :step_name, :decided_by, :decision, :comment, :decided_at);
