-- list_committed_steps: steps of one instance that have ended, the latest first, whole.
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
