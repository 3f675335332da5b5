-- keep_signal_taken: the sender of a signal is told that it was taken.
--
--   $1  instance
--   $2  the signal's seq

UPDATE workflow.workflow_signal AS g
   SET was_taken = true
 WHERE g.instance_id = $1::uuid
   AND g.seq = $2::bigint
