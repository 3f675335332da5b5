-- insert_instance: one new instance, unless its id or its key is known.
--
--   one parameter for each column, in the order in which flow_instance.c writes them
--
-- No row comes back; sqlite3_changes() says whether it was inserted.

INSERT INTO workflow_instance (id, workflow, version, key, status, generation, start_at,
                               created_at, updated_at, started_at, finished_at, is_dlq,
                               has_compensation, goal, is_undo_failed, undo_first, undo_from,
                               undo_to, undo_below, commits, active_count, wait_count,
                               sleep_count, decision_count, parked_count, awaited_count,
                               is_function, revision, places, is_forced, is_woken, stop_by,
                               stop_reason, last_error, undo_error, input, output)
VALUES (:id, :workflow, :version, :key, :status, :generation, :start_at, :created_at,
        :updated_at, :started_at, :finished_at, :is_dlq, :has_compensation, :goal,
        :is_undo_failed, :undo_first, :undo_from, :undo_to, :undo_below, :commits,
        :active_count, :wait_count, :sleep_count, :decision_count, :parked_count,
        :awaited_count, :is_function, :revision, :places, :is_forced, :is_woken, :stop_by,
        :stop_reason, :last_error, :undo_error, :input, :output)
ON CONFLICT DO NOTHING;
