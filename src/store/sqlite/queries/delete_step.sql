-- delete_step: removes a step, if it is there.
--
--   :id  which

DELETE FROM workflow_step
 WHERE id = :id;
