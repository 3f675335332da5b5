-- name: insert_step
-- One step of a new instance's plan.
--
--   one parameter for each column, in the order in which flow_step.c writes them
INSERT INTO workflow_step (id, name, kind, handler, max_attempts, priority, next, scope_fork,
                           scope_from, scope_to, config, metadata, status, attempts,
                           compensation_attempts, commit_no, next_run_at, started_at,
                           finished_at, is_ready, is_held, is_current, task_type, due_at,
                           locked_by, token, locked_until, call_until, ended_by, ended_token,
                           stop, waiting_event, deadline_at, is_timed_out, remaining,
                           updated_at, signal, error, input, output, ended_outcome,
                           past_effects, is_effect_begun, function_effects, undo_error,
                           version)
VALUES (:id, :name, :kind, :handler, :max_attempts, :priority, :next, :scope_fork, :scope_from,
        :scope_to, :config, :metadata, :status, :attempts, :compensation_attempts, :commit_no,
        :next_run_at, :started_at, :finished_at, :is_ready, :is_held, :is_current, :task_type,
        :due_at, :locked_by, :token, :locked_until, :call_until, :ended_by, :ended_token, :stop,
        :waiting_event, :deadline_at, :is_timed_out, :remaining, :updated_at, :signal, :error,
        :input, :output, :ended_outcome, :past_effects, :is_effect_begun, :function_effects,
        :undo_error, :version);


-- name: update_step
-- Writes what may change of a step that was read in this transaction.
--
--   :id  which
--   and one parameter for each column that may change, in the order in which flow_step.c writes
--   them
UPDATE workflow_step
   SET status                = :status,
       attempts              = :attempts,
       compensation_attempts = :compensation_attempts,
       commit_no             = :commit_no,
       next_run_at           = :next_run_at,
       started_at            = :started_at,
       finished_at           = :finished_at,
       is_ready              = :is_ready,
       is_held               = :is_held,
       is_current            = :is_current,
       task_type             = :task_type,
       due_at                = :due_at,
       locked_by             = :locked_by,
       token                 = :token,
       locked_until          = :locked_until,
       call_until            = :call_until,
       ended_by              = :ended_by,
       ended_token           = :ended_token,
       stop                  = :stop,
       waiting_event         = :waiting_event,
       deadline_at           = :deadline_at,
       is_timed_out          = :is_timed_out,
       remaining             = :remaining,
       updated_at            = :updated_at,
       signal                = :signal,
       error                 = :error,
       input                 = :input,
       output                = :output,
       ended_outcome         = :ended_outcome,
       past_effects          = :past_effects,
       is_effect_begun       = :is_effect_begun,
       function_effects      = :function_effects,
       undo_error            = :undo_error
 WHERE id = :id;


-- name: delete_step
-- Removes a step, if it is there.
--
--   :id  which
DELETE FROM workflow_step
 WHERE id = :id;


-- name: list_committed_steps
-- Steps of one instance that have ended, the latest first, whole.
--
--   :instance_seq  whose
--   :below         those with a lower commit number
--   :from, :to     between these ids, both included
--   :room          how many at most
--
-- Walks idx_workflow_step_committed backwards.
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step INDEXED BY idx_workflow_step_committed
 WHERE commit_no IS NOT NULL
   AND instance_seq = :instance_seq
   AND commit_no < :below
   AND +id BETWEEN :from AND :to
 ORDER BY commit_no DESC
 LIMIT :room;


-- name: list_current_steps
-- Steps of one instance that are under way, by place, whole.
--
--   :instance_seq  whose
--   :after         those with a greater id
--   :room          how many at most
--
-- Walks idx_workflow_step_current, which holds nothing that is planned or ended.
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step INDEXED BY idx_workflow_step_current
 WHERE is_current = 1
   AND instance_seq = :instance_seq
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: next_task_type
-- The first type in a range that has a step to claim.
--
--   :from   this type or a greater one
--   :below  but less than this; a BLOB is greater than every text
--
-- One row, the type; or none.  One probe of idx_workflow_step_ready.
SELECT task_type
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type >= :from
   AND task_type < :below
 ORDER BY task_type
 LIMIT 1;


-- name: next_step_turn
-- The next pair of version and priority that has a step of a type to claim, the
-- highest first.
--
--   :type                which
--   :version, :priority  of this version at most this priority, or of a lower version any
--   :from_version        but not a version below this
--   :runtime             who asks; NULL: any runtime
--
-- One row (version, priority); or none, also if the registry disables the type or gives it to
-- another runtime.  One probe of idx_workflow_step_ready: with < in place of <= it would walk
-- all steps of the pair before.
SELECT version, priority
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = iif(EXISTS (SELECT 1
                                 FROM workflow_registry
                                WHERE workflow_name = :type
                                  AND (is_enabled = 0 OR runtime <> :runtime)),
                       NULL, :type)
   AND (version, priority) <= (:version, :priority)
   AND version >= :from_version
 ORDER BY version DESC, priority DESC
 LIMIT 1;


-- name: claim_step_heads
-- Steps of one type, version and priority, the longest waiting first.
--
--   :type, :version, :priority  which
--   :room                       how many at most
--
-- Rows (next_run_at, id).  Reads idx_workflow_step_ready alone, from the beginning of the three.
SELECT next_run_at, id
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = :type
   AND version = :version
   AND priority = :priority
 ORDER BY next_run_at, id
 LIMIT :room;


-- name: lease_step
-- Gives a step to a worker.
--
--   :id           which
--   :worker       to whom
--   :token        what the worker will say with each report
--   :lease_until  when the lease lapses if it is not extended
--   :now          microseconds since 1970
--
-- A ready step runs now; one in compensation stays so.
UPDATE workflow_step
   SET status       = iif(status = 'ready', 'running', status),
       is_ready     = 0,
       locked_by    = :worker,
       token        = :token,
       locked_until = :lease_until,
       due_at       = :lease_until + 1,
       started_at   = coalesce(started_at, :now),
       updated_at   = :now
 WHERE id = :id;


-- name: read_claimed_step
-- A step, whole, with its instance's id.
--
--   :id  which
--
-- One row or none.
SELECT step.id, step.name, step.kind, step.handler, step.max_attempts, step.priority, step.next,
       step.scope_fork, step.scope_from, step.scope_to, step.status, step.attempts,
       step.compensation_attempts, step.commit_no, step.next_run_at, step.started_at,
       step.finished_at, step.is_ready, step.is_held, step.task_type, step.due_at,
       step.locked_by, step.token, step.locked_until, step.call_until, step.ended_by,
       step.ended_token, step.stop, step.waiting_event, step.deadline_at, step.is_timed_out,
       step.remaining, step.updated_at, step.signal, step.error, step.config, step.metadata,
       step.input, step.output,
       step.ended_outcome, step.past_effects, step.is_effect_begun, step.function_effects, step.undo_error, instance.id
  FROM workflow_step AS step
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.id = :id;


-- name: find_claimed_steps
-- The steps that one claim holds, in the order of a claim without aging,
-- whole, with their instances' ids.
--
--   :worker, :token  of the claim
--   :room            how many at most
--
-- Walks idx_workflow_step_leased, which is as long as there are leases.
SELECT step.id, step.name, step.kind, step.handler, step.max_attempts, step.priority, step.next,
       step.scope_fork, step.scope_from, step.scope_to, step.status, step.attempts,
       step.compensation_attempts, step.commit_no, step.next_run_at, step.started_at,
       step.finished_at, step.is_ready, step.is_held, step.task_type, step.due_at,
       step.locked_by, step.token, step.locked_until, step.call_until, step.ended_by,
       step.ended_token, step.stop, step.waiting_event, step.deadline_at, step.is_timed_out,
       step.remaining, step.updated_at, step.signal, step.error, step.config, step.metadata,
       step.input, step.output,
       step.ended_outcome, step.past_effects, step.is_effect_begun, step.function_effects, step.undo_error, instance.id
  FROM workflow_step AS step INDEXED BY idx_workflow_step_leased
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.locked_by IS NOT NULL
   AND step.locked_by = :worker
   AND step.token = :token
   AND step.status IN ('running', 'compensation')
 ORDER BY step.priority DESC, step.next_run_at, step.id
 LIMIT :room;


-- name: read_step
-- A step, whole.
--
--   :id  which
--
-- One row or none.
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step
 WHERE id = :id;


-- name: get_step
-- The step of this name between two ids, whole.
--
--   :from, :to  the instance's first and last
--   :name       which
--
-- One row or none.  Walks the instance's steps: names are asked for by people, and an index on
-- them would be written at every start.
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step
 WHERE id BETWEEN :from AND :to
   AND name = :name
 ORDER BY id
 LIMIT 1;


-- name: list_steps
-- Steps between two ids, by place, whole.
--
--   :from, :to  both included
--   :status     NULL: any
--   :room       how many at most
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step
 WHERE id BETWEEN :from AND :to
   AND (:status IS NULL OR status = :status)
 ORDER BY id
 LIMIT :room;


-- name: list_shown_steps
-- As list_current_steps, but only those whose status says so.
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at, finished_at,
       is_ready, is_held, task_type, due_at, locked_by, token, locked_until, call_until,
       ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out, remaining,
       updated_at, signal, error, config, metadata, input, output,
       ended_outcome, past_effects, is_effect_begun, function_effects, undo_error
  FROM workflow_step INDEXED BY idx_workflow_step_current
 WHERE is_current = 1
   AND status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
   AND instance_seq = :instance_seq
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: list_ready_types
-- Which types of steps can be claimed, by version and priority, and since when.
--
--   :room  how many at most
--
-- Rows (type, version, next_run_at, instance_id), of the step of each that waits longest.  Leaps
-- through idx_workflow_step_ready from one triple to the next.
WITH RECURSIVE walk (id, type, version, priority, since) AS (
    SELECT id, task_type, version, priority, next_run_at
      FROM workflow_step
     WHERE id = (SELECT id
                   FROM workflow_step INDEXED BY idx_workflow_step_ready
                  WHERE is_ready = 1
                  ORDER BY task_type, version, priority, next_run_at
                  LIMIT 1)
    UNION ALL
    SELECT next.id, next.task_type, next.version, next.priority, next.next_run_at
      FROM walk
      JOIN workflow_step AS next
        ON next.id = (SELECT later.id
                        FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                       WHERE later.is_ready = 1
                         AND (later.task_type, later.version, later.priority)
                             >= (walk.type, walk.version, walk.priority + 1)
                       ORDER BY later.task_type, later.version, later.priority,
                                later.next_run_at
                       LIMIT 1)
)
SELECT type, version, since,
       (SELECT instance.id
          FROM workflow_instance AS instance
         WHERE instance.seq = walk.id >> 20)
  FROM walk
 LIMIT :room;


-- name: count_steps
-- How many steps can be claimed and how many are leased.
--
-- One row: ready, leased.  Walks the indexes of those alone.
SELECT (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_ready
         WHERE is_ready = 1),
       (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL);
