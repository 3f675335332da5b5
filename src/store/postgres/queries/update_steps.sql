-- update_steps: writes what may change of rows that this transaction has locked.
--
--   $1..$29  arrays with a value for each row

UPDATE workflow.workflow_step AS s
   SET status                = given.status,
       attempts              = given.attempts,
       compensation_attempts = given.compensation_attempts,
       input                 = given.input,
       output                = given.output,
       error                 = given.error,
       commit_no             = given.commit_no,
       next_run_at           = given.next_run_at,
       started_at            = given.started_at,
       finished_at           = given.finished_at,
       is_ready              = given.is_ready,
       task_type             = given.task_type,
       due_at                = given.due_at,
       is_held               = given.is_held,
       locked_by             = given.locked_by,
       token                 = given.token,
       locked_until          = given.locked_until,
       call_until            = given.call_until,
       ended_by              = given.ended_by,
       ended_token           = given.ended_token,
       stop                  = given.stop,
       waiting_event         = given.waiting_event,
       deadline_at           = given.deadline_at,
       is_timed_out          = given.is_timed_out,
       signal                = given.signal,
       remaining             = given.remaining,
       updated_at            = given.updated_at
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::int[], $6::jsonb[], $7::jsonb[],
              $8::text[], $9::bigint[], $10::timestamptz[], $11::timestamptz[],
              $12::timestamptz[], $13::boolean[], $14::text[], $15::timestamptz[],
              $16::boolean[], $17::text[], $18::text[], $19::timestamptz[], $20::timestamptz[],
              $21::text[], $22::text[], $23::text[], $24::text[], $25::timestamptz[],
              $26::boolean[], $27::jsonb[], $28::int[], $29::timestamptz[])
       AS given (instance_id, seq, status, attempts, compensation_attempts, input, output,
                 error, commit_no, next_run_at, started_at, finished_at, is_ready, task_type,
                 due_at, is_held, locked_by, token, locked_until, call_until, ended_by,
                 ended_token, stop, waiting_event, deadline_at, is_timed_out, signal, remaining,
                 updated_at)
 WHERE s.instance_id = given.instance_id
   AND s.seq = given.seq
