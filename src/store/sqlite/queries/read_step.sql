-- read_step: a step, whole.
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
