-- find_signal_id: the seq of the signal with this id.
--
--   $1, $2  instance, id

SELECT g.seq
  FROM workflow.workflow_signal AS g
 WHERE g.instance_id = $1::uuid
   AND g.id = $2::text
