-- insert_decision: what somebody decided about a human step.
--
--   $1..$7  instance, the step's place and name, who, what, comment, when

INSERT INTO workflow.workflow_human_decision
       (instance_id, step_seq, step_name, decided_by, decision, comment, decided_at)
VALUES ($1::uuid, $2::int, $3::text, $4::text, $5::text, $6::text, $7::timestamptz)
