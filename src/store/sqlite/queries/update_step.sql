-- update_step: writes what may change of a step that was read in this transaction.
--
--   :id  which
--   and one parameter for each column that may change, in the order in which flow_step.c writes
--   them

UPDATE workflow_step
   SET status                = :status,
       attempts              = :attempts,
       compensation_attempts = :compensation_attempts,
       commit_no             = :commit_no,
       next_run_at           = :next_run_at,
       started_at            = :started_at,
       finished_at           = :finished_at,
       is_ready              = :is_ready,
       is_held               = :is_held,
       is_current            = :is_current,
       task_type             = :task_type,
       due_at                = :due_at,
       locked_by             = :locked_by,
       token                 = :token,
       locked_until          = :locked_until,
       call_until            = :call_until,
       ended_by              = :ended_by,
       ended_token           = :ended_token,
       stop                  = :stop,
       waiting_event         = :waiting_event,
       deadline_at           = :deadline_at,
       is_timed_out          = :is_timed_out,
       remaining             = :remaining,
       updated_at            = :updated_at,
       signal                = :signal,
       error                 = :error,
       input                 = :input,
       output                = :output,
       ended_outcome         = :ended_outcome,
       past_effects          = :past_effects,
       is_effect_begun       = :is_effect_begun,
       function_effects      = :function_effects,
       undo_error            = :undo_error
 WHERE id = :id;
