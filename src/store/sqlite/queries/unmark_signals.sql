-- unmark_signals: lets none of an instance's signals be taken.
--
--   :instance_id  whose

UPDATE workflow_signal
   SET taken_by = NULL
 WHERE instance_id = :instance_id
   AND taken_by IS NOT NULL;
