-- name: count_needs
-- doing: count what waits for a person
-- Decisions that are awaited, and open dead letters.
--
--   :most  how many are counted
SELECT (SELECT count(*)
          FROM (SELECT 1
                  FROM workflow_step INDEXED BY idx_workflow_step_undecided
                 WHERE status = 'waiting_decision'
                 LIMIT :most)),
       (SELECT count(*)
          FROM (SELECT 1
                  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
                 WHERE is_open = 1
                 LIMIT :most));


-- name: count_halts
-- doing: count what waits for a person
-- Of the newest instances that are paused those that nobody has paused: by a failure, and because their code does not
-- match; and of the newest open records those of compensations.
--
--   :most  how many of each are looked at
SELECT p.failed, p.mismatched, d.undo_failed
  FROM (SELECT count(*) FILTER (WHERE instr(last_error, 'version_mismatch') = 0) AS failed,
               count(*) FILTER (WHERE instr(last_error, 'version_mismatch') > 0) AS mismatched
          FROM (SELECT paused_by, last_error
                  FROM workflow_instance INDEXED BY idx_workflow_instance_status
                 WHERE status <> 'completed'
                   AND status = 'paused'
                 ORDER BY seq DESC
                 LIMIT :most)
         WHERE paused_by IS NULL) AS p
 CROSS JOIN (SELECT count(*) FILTER (WHERE substr(reason, 1, 12) = 'compensation') AS undo_failed
               FROM (SELECT reason
                       FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
                      WHERE is_open = 1
                      ORDER BY id DESC
                      LIMIT :most)) AS d;


-- name: append_dlq
-- doing: record a failed step
-- One record of a failed step.
INSERT INTO workflow_dlq ({dlq.insert})
VALUES ({dlq.values});


-- name: close_dlq
-- doing: close records of failed steps
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
-- doing: read a record of a failed step
-- One record, open or not.
--
--   :id  which
SELECT {dlq.columns}
  FROM workflow_dlq
 WHERE id = :id;


-- name: list_dlq
-- doing: list records of failed steps
-- Open records, newest first.
--
--   :before  older than this id
--   :room    how many at most
--
-- Walks idx_workflow_dlq_open backwards.
SELECT {dlq.columns}
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
 WHERE is_open = 1
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: list_dlq_of_instance
-- doing: list records of failed steps
-- As list_dlq, of one instance.
--
--   :instance_id  whose
--
-- Walks idx_workflow_dlq_instance backwards.
SELECT {dlq.columns}
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_instance
 WHERE is_open = 1
   AND instance_id = :instance_id
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: scan_dlq
-- doing: list records of failed steps
-- As list_dlq, with the beginning of the input alone; the last result is its length.
SELECT {dlq.columns but input},
       substr(input, 1, 120) AS input,
       length(CAST(input AS BLOB)) AS input_bytes
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
 WHERE is_open = 1
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;
