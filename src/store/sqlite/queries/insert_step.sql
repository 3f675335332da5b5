-- insert_step: one step of a new instance's plan.
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
