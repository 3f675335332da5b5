-- unmark_signals: lets signals of an instance be not taken.
--
--   :instance_id  whose
--   :taken_by     only those that the step at this place took; NULL: all

UPDATE workflow_signal
   SET taken_by = NULL
 WHERE instance_id = :instance_id
   AND taken_by IS NOT NULL
   AND (:taken_by IS NULL OR taken_by = :taken_by);
