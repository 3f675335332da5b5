-- insert_instances: new rows, in the order given, which becomes the order of seq.
--
--   $1..$36  arrays with a value for each row
--
-- Rows whose id or key is there already are left out.  Brings id and seq of those that are new.

INSERT INTO workflow.workflow_instance
       (id, workflow, version, key, input, output, status, generation, last_error, start_at,
        created_at, updated_at, started_at, finished_at, is_dlq, has_compensation, goal,
        is_undo_failed, undo_first, undo_from, undo_to, undo_below, stop_by, stop_reason,
        commits, active_count, wait_count, sleep_count, decision_count, parked_count,
        awaited_count, is_function, revision, places, is_forced, is_woken, undo_error)
SELECT id, workflow, version, key, input, output, status, generation, last_error, start_at,
       created_at, updated_at, started_at, finished_at, coalesce(is_dlq, false),
       coalesce(has_compensation, false), goal, coalesce(is_undo_failed, false), undo_first,
       coalesce(undo_from, 0), coalesce(undo_to, 0), coalesce(undo_below, 0), stop_by,
       stop_reason, commits, active_count, coalesce(wait_count, 0), coalesce(sleep_count, 0),
       coalesce(decision_count, 0), coalesce(parked_count, 0), coalesce(awaited_count, 0),
       coalesce(is_function, false), coalesce(revision, 0), coalesce(places, 0),
       coalesce(is_forced, false), coalesce(is_woken, false), undo_error
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS workflow,
               unnest($3::int[]) AS version, unnest($4::text[]) AS key,
               unnest($5::jsonb[]) AS input, unnest($6::jsonb[]) AS output,
               unnest($7::text[]) AS status, unnest($8::int[]) AS generation,
               unnest($9::jsonb[]) AS last_error, unnest($10::timestamptz[]) AS start_at,
               unnest($11::timestamptz[]) AS created_at,
               unnest($12::timestamptz[]) AS updated_at,
               unnest($13::timestamptz[]) AS started_at,
               unnest($14::timestamptz[]) AS finished_at, unnest($15::boolean[]) AS is_dlq,
               unnest($16::boolean[]) AS has_compensation, unnest($17::text[]) AS goal,
               unnest($18::boolean[]) AS is_undo_failed, unnest($19::int[]) AS undo_first,
               unnest($20::int[]) AS undo_from, unnest($21::int[]) AS undo_to,
               unnest($22::bigint[]) AS undo_below, unnest($23::text[]) AS stop_by,
               unnest($24::text[]) AS stop_reason, unnest($25::bigint[]) AS commits,
               unnest($26::int[]) AS active_count, unnest($27::int[]) AS wait_count,
               unnest($28::int[]) AS sleep_count, unnest($29::int[]) AS decision_count,
               unnest($30::int[]) AS parked_count, unnest($31::int[]) AS awaited_count,
               unnest($32::boolean[]) AS is_function, unnest($33::bigint[]) AS revision,
               unnest($34::int[]) AS places, unnest($35::boolean[]) AS is_forced,
               unnest($36::boolean[]) AS is_woken, unnest($37::jsonb[]) AS undo_error) AS given
ON CONFLICT DO NOTHING
RETURNING id::text, seq
