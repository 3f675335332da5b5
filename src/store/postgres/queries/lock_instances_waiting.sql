-- lock_instances_waiting: reads and locks rows, in order of id; waits for each up to
-- lock_timeout.
--
--   $1  ids
--
-- The last column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.

WITH locked AS MATERIALIZED (
    SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text,
           i.status, i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at,
           i.started_at, i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed,
           i.undo_first, i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason,
           i.commits, i.active_count, i.wait_count, i.sleep_count, i.decision_count,
           i.parked_count, i.awaited_count, i.is_function, i.revision, i.places, i.is_forced,
           i.is_woken, i.undo_error::text
      FROM workflow.workflow_instance AS i
     WHERE i.id = ANY ($1::uuid[])
     ORDER BY i.id
       FOR NO KEY UPDATE
)
SELECT locked.*, clock_timestamp()
  FROM locked
 ORDER BY locked.id COLLATE "C"
