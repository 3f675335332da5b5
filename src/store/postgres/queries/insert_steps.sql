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
       scope_fork, scope_from, scope_to, config, metadata, status, coalesce(attempts, 0),
       coalesce(compensation_attempts, 0), input, output, error, coalesce(commit_no, 0),
       next_run_at, started_at, finished_at, is_ready, task_type, due_at,
       coalesce(is_held, false), locked_by, token, locked_until, call_until, ended_by,
       ended_token, stop, waiting_event, deadline_at, coalesce(is_timed_out, false), signal,
       coalesce(remaining, 0), updated_at
  FROM (SELECT unnest($1::uuid[]) AS instance_id, unnest($2::bigint[]) AS instance_seq,
               unnest($3::int[]) AS seq, unnest($4::text[]) AS name, unnest($5::text[]) AS kind,
               unnest($6::text[]) AS handler, unnest($7::int[]) AS max_attempts,
               unnest($8::int[]) AS priority, unnest($9::int[]) AS next,
               unnest($10::int[]) AS scope_fork, unnest($11::int[]) AS scope_from,
               unnest($12::int[]) AS scope_to, unnest($13::jsonb[]) AS config,
               unnest($14::jsonb[]) AS metadata, unnest($15::text[]) AS status,
               unnest($16::int[]) AS attempts, unnest($17::int[]) AS compensation_attempts,
               unnest($18::jsonb[]) AS input, unnest($19::jsonb[]) AS output,
               unnest($20::text[]) AS error, unnest($21::bigint[]) AS commit_no,
               unnest($22::timestamptz[]) AS next_run_at,
               unnest($23::timestamptz[]) AS started_at,
               unnest($24::timestamptz[]) AS finished_at, unnest($25::boolean[]) AS is_ready,
               unnest($26::text[]) AS task_type, unnest($27::timestamptz[]) AS due_at,
               unnest($28::boolean[]) AS is_held, unnest($29::text[]) AS locked_by,
               unnest($30::text[]) AS token, unnest($31::timestamptz[]) AS locked_until,
               unnest($32::timestamptz[]) AS call_until, unnest($33::text[]) AS ended_by,
               unnest($34::text[]) AS ended_token, unnest($35::text[]) AS stop,
               unnest($36::text[]) AS waiting_event, unnest($37::timestamptz[]) AS deadline_at,
               unnest($38::boolean[]) AS is_timed_out, unnest($39::jsonb[]) AS signal,
               unnest($40::int[]) AS remaining, unnest($41::timestamptz[]) AS updated_at) AS given
