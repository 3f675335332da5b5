-- keep_signal_taken: the sender of a signal is told that it was taken.
--
--   :instance_id, :seq  which

UPDATE workflow_signal
   SET was_taken = 1
 WHERE seq = :seq
   AND instance_id = :instance_id;
