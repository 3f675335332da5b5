-- lock_steps_between: steps of one instance between two places, by place; locked.
--
--   $1      instance
--   $2      status; NULL: any
--   $3, $4  first and last place
--   $5      how many at most

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
   AND s.seq BETWEEN $3::int AND $4::int
   AND ($2::text IS NULL OR s.status = $2::text)
 ORDER BY s.seq
 LIMIT $5::bigint
   FOR NO KEY UPDATE
