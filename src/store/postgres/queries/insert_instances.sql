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
        awaited_count, is_function, revision, places, is_forced, is_woken)
SELECT id, workflow, version, key, input, output, status, generation, last_error, start_at,
       created_at, updated_at, started_at, finished_at, is_dlq, has_compensation, goal,
       is_undo_failed, undo_first, undo_from, undo_to, undo_below, stop_by, stop_reason,
       commits, active_count, wait_count, sleep_count, decision_count, parked_count,
       awaited_count, is_function, revision, places, is_forced, is_woken
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::jsonb[], $6::jsonb[],
              $7::text[], $8::int[], $9::jsonb[], $10::timestamptz[], $11::timestamptz[],
              $12::timestamptz[], $13::timestamptz[], $14::timestamptz[], $15::boolean[],
              $16::boolean[], $17::text[], $18::boolean[], $19::int[], $20::int[], $21::int[],
              $22::bigint[], $23::text[], $24::text[], $25::bigint[], $26::int[], $27::int[],
              $28::int[], $29::int[], $30::int[], $31::int[], $32::boolean[], $33::bigint[],
              $34::int[], $35::boolean[], $36::boolean[])
       WITH ORDINALITY
       AS given (id, workflow, version, key, input, output, status, generation, last_error,
                 start_at, created_at, updated_at, started_at, finished_at, is_dlq,
                 has_compensation, goal, is_undo_failed, undo_first, undo_from, undo_to,
                 undo_below, stop_by, stop_reason, commits, active_count, wait_count,
                 sleep_count, decision_count, parked_count, awaited_count, is_function, revision,
                 places, is_forced, is_woken, ordinal)
 ORDER BY ordinal
ON CONFLICT DO NOTHING
RETURNING id::text, seq
