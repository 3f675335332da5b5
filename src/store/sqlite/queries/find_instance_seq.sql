-- find_instance_seq: an instance's number, which its steps' ids begin with.
--
--   :id  which
--
-- One row or none.  Reads the index on id alone.

SELECT seq
  FROM workflow_instance
 WHERE id = :id;
