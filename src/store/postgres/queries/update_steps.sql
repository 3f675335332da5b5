-- update_steps: writes what may change of rows that this transaction has locked.
--
--   $1..$29  arrays with a value for each row

UPDATE workflow.workflow_step AS s
   SET status                = given.status,
       attempts              = coalesce(given.attempts, 0),
       compensation_attempts = coalesce(given.compensation_attempts, 0),
       input                 = given.input,
       output                = given.output,
       error                 = given.error,
       commit_no             = coalesce(given.commit_no, 0),
       next_run_at           = given.next_run_at,
       started_at            = given.started_at,
       finished_at           = given.finished_at,
       is_ready              = given.is_ready,
       task_type             = given.task_type,
       due_at                = given.due_at,
       is_held               = coalesce(given.is_held, false),
       locked_by             = given.locked_by,
       token                 = given.token,
       locked_until          = given.locked_until,
       call_until            = given.call_until,
       ended_by              = given.ended_by,
       ended_token           = given.ended_token,
       stop                  = given.stop,
       waiting_event         = given.waiting_event,
       deadline_at           = given.deadline_at,
       is_timed_out          = coalesce(given.is_timed_out, false),
       signal                = given.signal,
       remaining             = coalesce(given.remaining, 0),
       updated_at            = given.updated_at
  FROM (SELECT unnest($1::uuid[]) AS instance_id, unnest($2::int[]) AS seq,
               unnest($3::text[]) AS status, unnest($4::int[]) AS attempts,
               unnest($5::int[]) AS compensation_attempts, unnest($6::jsonb[]) AS input,
               unnest($7::jsonb[]) AS output, unnest($8::text[]) AS error,
               unnest($9::bigint[]) AS commit_no, unnest($10::timestamptz[]) AS next_run_at,
               unnest($11::timestamptz[]) AS started_at,
               unnest($12::timestamptz[]) AS finished_at, unnest($13::boolean[]) AS is_ready,
               unnest($14::text[]) AS task_type, unnest($15::timestamptz[]) AS due_at,
               unnest($16::boolean[]) AS is_held, unnest($17::text[]) AS locked_by,
               unnest($18::text[]) AS token, unnest($19::timestamptz[]) AS locked_until,
               unnest($20::timestamptz[]) AS call_until, unnest($21::text[]) AS ended_by,
               unnest($22::text[]) AS ended_token, unnest($23::text[]) AS stop,
               unnest($24::text[]) AS waiting_event, unnest($25::timestamptz[]) AS deadline_at,
               unnest($26::boolean[]) AS is_timed_out, unnest($27::jsonb[]) AS signal,
               unnest($28::int[]) AS remaining, unnest($29::timestamptz[]) AS updated_at) AS given
 WHERE s.instance_id = given.instance_id
   AND s.seq = given.seq
