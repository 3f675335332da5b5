-- close_dlq: closes an instance's open records.
--
--   :instance_id  whose
--   :step_seq     of this step; NULL: all

UPDATE workflow_dlq INDEXED BY idx_workflow_dlq_instance
   SET is_open = 0
 WHERE is_open = 1
   AND instance_id = :instance_id
   AND (:step_seq IS NULL OR step_seq = :step_seq);
