-- read_claimed_step: a step, whole, with its instance's id.
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
