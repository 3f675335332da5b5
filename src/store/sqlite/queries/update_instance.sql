-- update_instance: writes what may change of an instance that was read in this transaction, but
-- for its status.
--
--   :id  which
--   and one parameter for each column that may change, in the order in which flow_instance.c
--   writes them

UPDATE workflow_instance
   SET generation       = :generation,
       start_at         = :start_at,
       updated_at       = :updated_at,
       started_at       = :started_at,
       finished_at      = :finished_at,
       is_dlq           = :is_dlq,
       has_compensation = :has_compensation,
       goal             = :goal,
       is_undo_failed   = :is_undo_failed,
       undo_first       = :undo_first,
       undo_from        = :undo_from,
       undo_to          = :undo_to,
       undo_below       = :undo_below,
       commits          = :commits,
       active_count     = :active_count,
       wait_count       = :wait_count,
       sleep_count      = :sleep_count,
       decision_count   = :decision_count,
       parked_count     = :parked_count,
       awaited_count    = :awaited_count,
       is_function      = :is_function,
       revision         = :revision,
       places           = :places,
       is_forced        = :is_forced,
       is_woken         = :is_woken,
       stop_by          = :stop_by,
       stop_reason      = :stop_reason,
       last_error       = :last_error,
       undo_error       = :undo_error,
       output           = :output
 WHERE id = :id;
