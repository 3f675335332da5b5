-- list_current_steps: steps of one instance that are under way, by place, whole.
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
