-- lock_current_steps: the steps at which an instance stands, by place; locked.
--
--   $1  instance
--   $2  only those after this place
--   $3  how many at most
--
-- Walks idx_workflow_step_current, whose condition is repeated here word for word.

SELECT s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler, s.max_attempts,
       s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to, s.config::text,
       s.metadata::text, s.status, s.attempts, s.compensation_attempts, s.input::text,
       s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at, s.finished_at,
       s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token, s.locked_until,
       s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event, s.deadline_at,
       s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
       s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
  FROM workflow.workflow_step AS s
 WHERE s.instance_id = $1::uuid
   AND s.seq > $2::int
   AND (s.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
        OR s.locked_by IS NOT NULL OR s.is_held)
 ORDER BY s.seq
 LIMIT $3::bigint
   FOR NO KEY UPDATE
