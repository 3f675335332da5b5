-- list_instances_by_status: newest first, those of one status; walks its index.
--
--   $1  status; NULL: any
--   $2  workflow; NULL: any
--   $3  only rows before this seq
--   $4  how many at most

SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.status = $1::text
   AND i.seq < $3::bigint
   AND ($2::text IS NULL OR i.workflow = $2::text)
 ORDER BY i.seq DESC
 LIMIT $4::bigint
