-- update_instances: writes what may change of rows that this transaction has locked.
--
--   $1..$26  arrays with a value for each row

UPDATE workflow.workflow_instance AS i
   SET output           = given.output,
       status           = given.status,
       generation       = given.generation,
       last_error       = given.last_error,
       start_at         = given.start_at,
       updated_at       = given.updated_at,
       started_at       = given.started_at,
       finished_at      = given.finished_at,
       is_dlq           = given.is_dlq,
       has_compensation = given.has_compensation,
       goal             = given.goal,
       is_undo_failed   = given.is_undo_failed,
       undo_first       = given.undo_first,
       undo_from        = given.undo_from,
       undo_to          = given.undo_to,
       undo_below       = given.undo_below,
       stop_by          = given.stop_by,
       stop_reason      = given.stop_reason,
       commits          = given.commits,
       active_count     = given.active_count,
       wait_count       = given.wait_count,
       sleep_count      = given.sleep_count,
       decision_count   = given.decision_count,
       parked_count     = given.parked_count,
       awaited_count    = given.awaited_count
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::jsonb[]) AS output,
               unnest($3::text[]) AS status, unnest($4::int[]) AS generation,
               unnest($5::jsonb[]) AS last_error, unnest($6::timestamptz[]) AS start_at,
               unnest($7::timestamptz[]) AS updated_at, unnest($8::timestamptz[]) AS started_at,
               unnest($9::timestamptz[]) AS finished_at, unnest($10::boolean[]) AS is_dlq,
               unnest($11::boolean[]) AS has_compensation, unnest($12::text[]) AS goal,
               unnest($13::boolean[]) AS is_undo_failed, unnest($14::int[]) AS undo_first,
               unnest($15::int[]) AS undo_from, unnest($16::int[]) AS undo_to,
               unnest($17::bigint[]) AS undo_below, unnest($18::text[]) AS stop_by,
               unnest($19::text[]) AS stop_reason, unnest($20::bigint[]) AS commits,
               unnest($21::int[]) AS active_count, unnest($22::int[]) AS wait_count,
               unnest($23::int[]) AS sleep_count, unnest($24::int[]) AS decision_count,
               unnest($25::int[]) AS parked_count, unnest($26::int[]) AS awaited_count) AS given
 WHERE i.id = given.id
