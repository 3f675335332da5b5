-- insert_steps: the plans of new instances, and what functions remember.
--
--   $1..$41  arrays with a value for each row

INSERT INTO workflow.workflow_step
       (instance_id, instance_seq, seq, name, kind, handler, max_attempts, priority, next,
        scope_fork, scope_from, scope_to, config, metadata, status, attempts,
        compensation_attempts, input, output, error, commit_no, next_run_at, started_at,
        finished_at, is_ready, task_type, due_at, is_held, locked_by, token, locked_until,
        call_until, ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out,
        signal, remaining, updated_at)
SELECT instance_id, instance_seq, seq, name, kind, handler, max_attempts, priority, next,
       scope_fork, scope_from, scope_to, config, metadata, status, attempts,
       compensation_attempts, input, output, error, commit_no, next_run_at, started_at,
       finished_at, is_ready, task_type, due_at, is_held, locked_by, token, locked_until,
       call_until, ended_by, ended_token, stop, waiting_event, deadline_at, is_timed_out,
       signal, remaining, updated_at
  FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[],
              $7::int[], $8::int[], $9::int[], $10::int[], $11::int[], $12::int[], $13::jsonb[],
              $14::jsonb[], $15::text[], $16::int[], $17::int[], $18::jsonb[], $19::jsonb[],
              $20::text[], $21::bigint[], $22::timestamptz[], $23::timestamptz[],
              $24::timestamptz[], $25::boolean[], $26::text[], $27::timestamptz[],
              $28::boolean[], $29::text[], $30::text[], $31::timestamptz[], $32::timestamptz[],
              $33::text[], $34::text[], $35::text[], $36::text[], $37::timestamptz[],
              $38::boolean[], $39::jsonb[], $40::int[], $41::timestamptz[])
       AS given (instance_id, instance_seq, seq, name, kind, handler, max_attempts, priority,
                 next, scope_fork, scope_from, scope_to, config, metadata, status, attempts,
                 compensation_attempts, input, output, error, commit_no, next_run_at,
                 started_at, finished_at, is_ready, task_type, due_at, is_held, locked_by,
                 token, locked_until, call_until, ended_by, ended_token, stop, waiting_event,
                 deadline_at, is_timed_out, signal, remaining, updated_at)
