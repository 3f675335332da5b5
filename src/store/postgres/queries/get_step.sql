-- get_step: one step by its name.  What is under way is found by its index; only what is not makes
-- the instance's steps be read.
--
--   $1, $2  instance, name

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
   AND s.seq = coalesce(
       (SELECT c.seq
          FROM workflow.workflow_step AS c
         WHERE c.instance_id = $1::uuid
           AND c.name = $2::text
           AND c.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused',
                            'compensation')
         ORDER BY c.seq
         LIMIT 1),
       (SELECT c.seq
          FROM workflow.workflow_step AS c
         WHERE c.instance_id = $1::uuid
           AND c.name = $2::text
         ORDER BY c.seq
         LIMIT 1))
