-- find_signal_id: the seq of the signal with this id, and whether its sender was told "taken".
--
--   $1, $2  instance, id
--
-- Earlier versions did not keep the answer: there taken_by is the best guess.

SELECT g.seq, coalesce(g.was_taken, g.taken_by IS NOT NULL)
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.id = $2::text
