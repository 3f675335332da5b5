-- lock_steps: reads and locks steps; waits for each up to lock_timeout.
--
--   $1, $2, $3  their instances, and ranges of places: the first and the last
--
-- Neighbours are found together, by one look into the index.  Locks them one at a time and in one
-- order, so that nobody waits in a circle.  The first column says of which of the given ranges a row
-- is, from 1.

SELECT given.ordinal, s.*
  FROM (SELECT g.instance_id, g.first, g.last, g.ordinal
          FROM unnest($1::uuid[], $2::int[], $3::int[])
               WITH ORDINALITY AS g (instance_id, first, last, ordinal)
         ORDER BY g.instance_id, g.first) AS given
 CROSS JOIN LATERAL (
       SELECT s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler,
              s.max_attempts, s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to,
              s.config::text, s.metadata::text, s.status, s.attempts, s.compensation_attempts,
              s.input::text, s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at,
              s.finished_at, s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token,
              s.locked_until, s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event,
              s.deadline_at, s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
              s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
         FROM workflow.workflow_step AS s
        WHERE s.instance_id = given.instance_id
          AND s.seq BETWEEN given.first AND given.last
        ORDER BY s.seq
          FOR NO KEY UPDATE) AS s
