-- name: append_dlq
-- One record of a failed step.
--
--   one parameter for each column; see the table
INSERT INTO workflow_dlq (instance_id, workflow, version, step_seq, step_name, step_type,
                          reason, created_at, is_open, error, input)
VALUES (:instance_id, :workflow, :version, :step_seq, :step_name, :step_type,
        :reason, :created_at, :is_open, :error, :input);


-- name: close_dlq
-- Closes an instance's open records.
--
--   :instance_id  whose
--   :step_seq     of this step; NULL: all
UPDATE workflow_dlq INDEXED BY idx_workflow_dlq_instance
   SET is_open = 0
 WHERE is_open = 1
   AND instance_id = :instance_id
   AND (:step_seq IS NULL OR step_seq = :step_seq);


-- name: get_dlq
-- One record, open or not.
--
--   :id  which
SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq
 WHERE id = :id;


-- name: list_dlq
-- Open records, newest first.
--
--   :before  older than this id
--   :room    how many at most
--
-- Walks idx_workflow_dlq_open backwards.
SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
 WHERE is_open = 1
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: list_dlq_of_instance
-- As list_dlq, of one instance.
--
--   :instance_id  whose
--
-- Walks idx_workflow_dlq_instance backwards.
SELECT id, instance_id, workflow, version, step_seq, step_name, step_type, reason, created_at,
       is_open, error, input
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_instance
 WHERE is_open = 1
   AND instance_id = :instance_id
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;
