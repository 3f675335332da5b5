-- read_instances: rows of a set.
--
--   $1  their ids
--
-- The first column says which of the given ones a row is, from 1.

SELECT given.ordinal,
       i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
  JOIN workflow.workflow_instance AS i ON i.id = given.id
