-- name: insert_instance
-- One new instance, unless its id or its key is known.
--
--   one parameter for each column, in the order in which flow_instance.c writes them
--
-- No row comes back; sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_instance (id, workflow, version, key, status, generation, start_at,
                               created_at, updated_at, started_at, finished_at, is_dlq,
                               has_compensation, goal, is_undo_failed, undo_first, undo_from,
                               undo_to, undo_below, commits, active_count, wait_count,
                               sleep_count, decision_count, parked_count, awaited_count,
                               is_function, revision, places, is_forced, is_woken, stop_by,
                               stop_reason, last_error, undo_error, input, output)
VALUES (:id, :workflow, :version, :key, :status, :generation, :start_at, :created_at,
        :updated_at, :started_at, :finished_at, :is_dlq, :has_compensation, :goal,
        :is_undo_failed, :undo_first, :undo_from, :undo_to, :undo_below, :commits,
        :active_count, :wait_count, :sleep_count, :decision_count, :parked_count,
        :awaited_count, :is_function, :revision, :places, :is_forced, :is_woken, :stop_by,
        :stop_reason, :last_error, :undo_error, :input, :output)
ON CONFLICT DO NOTHING;


-- name: find_known_instance
-- Why insert_instance refused.
--
--   :id, :workflow, :key  of the instance that was not inserted
--
-- One row: seq and id of the instance that is there already.  The same id comes before the same
-- key.
SELECT seq, id FROM workflow_instance WHERE id = :id
UNION ALL
SELECT seq, id FROM workflow_instance WHERE key = :key AND workflow = :workflow
LIMIT 1;


-- name: find_instance_seq
-- An instance's number, which its steps' ids begin with.
--
--   :id  which
--
-- One row or none.  Reads the index on id alone.
SELECT seq
  FROM workflow_instance
 WHERE id = :id;


-- name: update_instance
-- Writes what may change of an instance that was read in this transaction, but
-- for its status.
--
--   :id  which
--   and one parameter for each column that may change, in the order in which flow_instance.c
--   writes them
UPDATE workflow_instance
   SET generation       = :generation,
       start_at         = :start_at,
       updated_at       = :updated_at,
       started_at       = :started_at,
       finished_at      = :finished_at,
       is_dlq           = :is_dlq,
       has_compensation = :has_compensation,
       goal             = :goal,
       is_undo_failed   = :is_undo_failed,
       undo_first       = :undo_first,
       undo_from        = :undo_from,
       undo_to          = :undo_to,
       undo_below       = :undo_below,
       commits          = :commits,
       active_count     = :active_count,
       wait_count       = :wait_count,
       sleep_count      = :sleep_count,
       decision_count   = :decision_count,
       parked_count     = :parked_count,
       awaited_count    = :awaited_count,
       is_function      = :is_function,
       revision         = :revision,
       places           = :places,
       is_forced        = :is_forced,
       is_woken         = :is_woken,
       stop_by          = :stop_by,
       stop_reason      = :stop_reason,
       last_error       = :last_error,
       undo_error       = :undo_error,
       output           = :output
 WHERE id = :id;


-- name: update_instance_status
-- Writes the status of an instance.
--
--   :status  what it is now
--   :id      which
--
-- Apart from the rest, since most changes leave the status as it is, and then its indexes need
-- not be written.
UPDATE workflow_instance
   SET status = :status
 WHERE id = :id
   AND status <> :status;


-- name: get_instance
-- An instance, whole.
--
--   :id  which
--
-- One row or none.
SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance
 WHERE id = :id;


-- name: list_instances
-- Instances, newest first, whole.
--
--   :status    NULL: any
--   :before    older than this seq
--   :room      how many at most
--
-- Walks the table backwards until it has enough.
SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance
 WHERE seq < :before
   AND (:status IS NULL OR status = :status)
 ORDER BY seq DESC
 LIMIT :room;


-- name: list_instances_by_key
-- As list_instances, of one key; each workflow has one at most.
--
--   :key       which
--   :workflow  NULL: any
SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance INDEXED BY idx_workflow_instance_key
 WHERE key = :key
   AND seq < :before
   AND (:workflow IS NULL OR workflow = :workflow)
   AND (:status IS NULL OR status = :status)
 ORDER BY seq DESC
 LIMIT :room;


-- name: list_instances_by_status
-- As list_instances, of one status, which is not completed.
--
--   :workflow  NULL: any
--
-- Walks idx_workflow_instance_status backwards.
SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status <> 'completed'
   AND status = :status
   AND seq < :before
   AND (:workflow IS NULL OR workflow = :workflow)
 ORDER BY seq DESC
 LIMIT :room;


-- name: list_instances_by_workflow
-- As list_instances, of one workflow.
--
--   :workflow  which
--
-- Walks idx_workflow_instance_workflow backwards.
SELECT seq, id, workflow, version, key, status, generation, start_at, created_at, updated_at,
       started_at, finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
       undo_from, undo_to, undo_below, commits, active_count, wait_count, sleep_count,
       decision_count, parked_count, awaited_count, is_function, revision, places, is_forced,
       is_woken, stop_by, stop_reason, last_error, undo_error, input, output
  FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
 WHERE workflow = :workflow
   AND seq < :before
   AND (:status IS NULL OR status = :status)
 ORDER BY seq DESC
 LIMIT :room;


-- name: count_instances
-- How many there are of each status that is not final.
--
-- Rows (status, count).  The second condition says nothing new, but lets SQLite see that the
-- index holds all of them.
SELECT status, count(*)
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
   AND status <> 'completed'
 GROUP BY status;
