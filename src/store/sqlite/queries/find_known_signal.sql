-- find_known_signal: why insert_signal refused.
--
--   :instance_id, :id  of the signal that was not inserted
--
-- One row, its seq.

SELECT seq
  FROM workflow_signal
 WHERE instance_id = :instance_id
   AND id = :id;
