-- mark_signal: says which step has taken a signal.
--
--   :instance_id, :seq  which
--   :taken_by           the step's place; NULL: none

UPDATE workflow_signal
   SET taken_by = :taken_by
 WHERE seq = :seq
   AND instance_id = :instance_id;
