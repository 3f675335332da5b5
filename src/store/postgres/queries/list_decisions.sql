-- list_decisions: what was decided about an instance's human steps, oldest first.
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
