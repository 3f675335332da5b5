-- read_steps: steps of a set, read and not locked.
--
--   $1, $2, $3  their instances, and ranges of places: the first and the last
--
-- The first column says of which of the given ranges a row is, from 1.

SELECT given.ordinal,
       s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler, s.max_attempts,
       s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to, s.config::text,
       s.metadata::text, s.status, s.attempts, s.compensation_attempts, s.input::text,
       s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at, s.finished_at,
       s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token, s.locked_until,
       s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event, s.deadline_at,
       s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
       s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
  FROM unnest($1::uuid[], $2::int[], $3::int[])
       WITH ORDINALITY AS given (instance_id, first, last, ordinal)
  JOIN workflow.workflow_step AS s
    ON s.instance_id = given.instance_id
   AND s.seq BETWEEN given.first AND given.last
