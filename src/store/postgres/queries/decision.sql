-- name: insert_decision
-- doing: write a decision
-- What somebody decided about a human step.
--
--   $1..$7  instance, the step's place and name, who, what, comment, when
INSERT INTO workflow.workflow_human_decision
       (instance_id, step_seq, step_name, decided_by, decision, comment, decided_at)
VALUES ($1::uuid, $2::int, $3::text, $4::text, $5::text, $6::text, $7::timestamptz)


-- name: list_decisions
-- What was decided about an instance's human steps, oldest first.
--
--   $1  instance
--   $2  those behind this id
--   $3  how many at most
SELECT h.id, h.instance_id::text, h.step_seq, h.step_name, h.decided_by, h.decision, h.comment,
       h.decided_at
  FROM workflow.workflow_human_decision AS h
 WHERE h.instance_id = $1::uuid
   AND h.id > $2::bigint
 ORDER BY h.id
 LIMIT $3::bigint
