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
