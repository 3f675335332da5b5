-- find_known_signal: the signal that an instance knows by an id, and how its sender was answered.
--
--   :instance_id, :id  of the signal
--
-- One row or none.  Earlier versions did not keep the answer: there taken_by is the best guess.

SELECT seq, coalesce(was_taken, taken_by IS NOT NULL)
  FROM workflow_signal
 WHERE instance_id = :instance_id
   AND id = :id;
