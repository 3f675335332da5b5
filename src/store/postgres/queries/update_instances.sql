-- update_instances: writes what may change of rows that this transaction has locked.
--
--   $1..$31  arrays with a value for each row

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
       awaited_count    = given.awaited_count,
       is_function      = given.is_function,
       revision         = given.revision,
       places           = given.places,
       is_forced        = given.is_forced,
       is_woken         = given.is_woken
  FROM unnest($1::uuid[], $2::jsonb[], $3::text[], $4::int[], $5::jsonb[], $6::timestamptz[],
              $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::boolean[],
              $11::boolean[], $12::text[], $13::boolean[], $14::int[], $15::int[], $16::int[],
              $17::bigint[], $18::text[], $19::text[], $20::bigint[], $21::int[], $22::int[],
              $23::int[], $24::int[], $25::int[], $26::int[], $27::boolean[], $28::bigint[],
              $29::int[], $30::boolean[], $31::boolean[])
       AS given (id, output, status, generation, last_error, start_at, updated_at, started_at,
                 finished_at, is_dlq, has_compensation, goal, is_undo_failed, undo_first,
                 undo_from, undo_to, undo_below, stop_by, stop_reason, commits, active_count,
                 wait_count, sleep_count, decision_count, parked_count, awaited_count,
                 is_function, revision, places, is_forced, is_woken)
 WHERE i.id = given.id
