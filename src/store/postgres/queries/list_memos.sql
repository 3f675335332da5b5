-- list_memos: the steps of functions behind place 0, in the order of the instances, by place.
--
--   $1  instances
--   $2  of the first only those after this place
--   $3  how many at most
--
-- One instance after the other, each by its primary key, until there are enough: so nothing is
-- sorted, and nothing is read that is not wanted.

SELECT s.*
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
 CROSS JOIN LATERAL (
       SELECT s.instance_id::text, s.instance_seq, s.seq, s.name, s.kind, s.handler, s.max_attempts,
              s.priority, s.next, s.scope_fork, s.scope_from, s.scope_to, s.config::text,
              s.metadata::text, s.status, s.attempts, s.compensation_attempts, s.input::text,
              s.output::text, s.error, s.commit_no, s.next_run_at, s.started_at, s.finished_at,
              s.is_ready, s.task_type, s.due_at, s.is_held, s.locked_by, s.token, s.locked_until,
              s.call_until, s.ended_by, s.ended_token, s.stop, s.waiting_event, s.deadline_at,
              s.is_timed_out, s.signal::text, s.remaining, s.updated_at,
              s.ended_outcome, s.past_effects, s.is_effect_begun, s.function_effects, s.undo_error
         FROM workflow.workflow_step AS s
        WHERE s.instance_id = given.id
          AND s.seq > CASE given.ordinal WHEN 1 THEN $2::int ELSE 0 END
        ORDER BY s.seq) AS s
 LIMIT $3::bigint
