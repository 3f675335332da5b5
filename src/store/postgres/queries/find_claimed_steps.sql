-- find_claimed_steps: the steps leased under this worker and token, in the order of a claim without
-- aging.
--
--   $1, $2  worker, token
--   $3      how many at most
--
-- Looks at what is leased now; asked only after a commit whose end nobody knew.

SELECT s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler, s.max_attempts,
       s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to, s.config::text,
       s.metadata::text, s.status, s.attempts, s.compensation_attempts, s.input::text,
       s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at, s.finished_at,
       s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token, s.locked_until,
       s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event, s.deadline_at,
       s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
       s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
  FROM workflow.workflow_step AS s
 WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
   AND s.status IN ('running', 'compensation')
   AND s.locked_by = $1::text
   AND s.token = $2::text
 ORDER BY s.priority DESC, s.next_run_at NULLS FIRST, s.instance_seq, s.seq
 LIMIT $3::bigint
