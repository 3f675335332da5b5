-- name: put_schedule
-- doing: write a schedule
-- One, new or in place of the one with that name.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_schedule
       ({schedule.insert})
SELECT {schedule.values}
  FROM (SELECT {schedule.arrays insert}) AS given
ON CONFLICT (name) DO UPDATE
   SET {schedule.excluded}


-- name: get_schedule
-- doing: read a schedule
-- One.
--
--   $1  name
SELECT {schedule.columns s}
  FROM workflow.workflow_schedule AS s
 WHERE s.name = $1::text


-- name: lock_schedule
-- doing: read a schedule
-- One, for change.
--
--   $1  name
SELECT {schedule.columns s}
  FROM workflow.workflow_schedule AS s
 WHERE s.name = $1::text
   FOR UPDATE


-- name: list_schedules
-- doing: list schedules
-- In order of name.
--
--   $1  only names after this one
--   $2  how many at most
SELECT {schedule.columns s}
  FROM workflow.workflow_schedule AS s
 WHERE s.name > $1::text
 ORDER BY s.name
 LIMIT $2::bigint


-- name: delete_schedule
-- doing: remove a schedule
-- One, with the list of its runs.
--
--   $1  name
WITH runs AS (
    DELETE FROM workflow.workflow_schedule_run AS run
     WHERE run.schedule = $1::text
)
DELETE FROM workflow.workflow_schedule AS s
 WHERE s.name = $1::text


-- name: find_due_schedules
-- doing: find schedules
-- Those whose time has come, the earliest first, and those whose waiting run can start; locked.
--
--   $1  now
--   $2  how many at most
--
-- Walks idx_workflow_schedule_due and idx_workflow_schedule_waiting.
SELECT {schedule.columns s}
  FROM workflow.workflow_schedule AS s
 WHERE s.name = ANY (ARRAY(
           SELECT due.name
             FROM workflow.workflow_schedule AS due
            WHERE due.due_at IS NOT NULL AND due.due_at <= $1::timestamptz
            UNION ALL
           SELECT s.name
             FROM workflow.workflow_schedule AS s
            WHERE s.waiting_at IS NOT NULL AND NOT s.is_paused
              AND NOT EXISTS (SELECT
                     FROM workflow.workflow_schedule_run AS run
                    WHERE run.is_open AND run.schedule = s.name
                      AND (EXISTS (SELECT
                                     FROM workflow.workflow_run AS job
                                    WHERE job.id = run.run_id AND job.status IN ('pending', 'leased')
                                      AND job.deleted_at IS NULL)
                           OR EXISTS (SELECT
                                        FROM workflow.workflow_instance AS i
                                       WHERE i.id = run.run_id
                                         AND i.status NOT IN ('completed', 'failed', 'cancelled', 'aborted'))))))
 ORDER BY s.due_at IS NULL OR s.due_at > $1::timestamptz, s.due_at, s.name
 LIMIT $2::bigint
   FOR UPDATE SKIP LOCKED


-- name: put_schedule_runs
-- doing: write runs of a schedule
-- New ones, or in place of those of that time.
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_schedule_run
       ({schedule_run.insert})
SELECT {schedule_run.values}
  FROM (SELECT {schedule_run.arrays insert}) AS given
ON CONFLICT (schedule, at) DO UPDATE
   SET {schedule_run.excluded}


-- name: drop_schedule_runs
-- doing: remove runs of a schedule
-- Those that are not open, but not the newest.
--
--   $1  of which schedule
--   $2  how many stay
DELETE FROM workflow.workflow_schedule_run AS run
 WHERE run.schedule = $1::text AND NOT run.is_open
   AND run.at <= (SELECT kept.at
                    FROM workflow.workflow_schedule_run AS kept
                   WHERE kept.schedule = $1::text
                   ORDER BY kept.at DESC
                   LIMIT 1 OFFSET $2::bigint)


-- name: list_schedule_runs
-- doing: list runs of a schedule
-- The newest first, with the status that their job or instance has.
--
--   $1  of which schedule
--   $2  whether only those that are open
--   $3  how many at most
SELECT {schedule_run.columns run but status},
       coalesce(CASE WHEN run.is_job
                     THEN (SELECT job.status FROM workflow.workflow_run AS job WHERE job.id = run.run_id)
                     ELSE (SELECT i.status FROM workflow.workflow_instance AS i WHERE i.id = run.run_id) END,
                CASE WHEN run.is_open AND run.run_id IS NOT NULL THEN 'gone' ELSE run.status END) AS status
  FROM workflow.workflow_schedule_run AS run
 WHERE run.schedule = $1::text
   AND (NOT $2::boolean OR run.is_open)
 ORDER BY run.at DESC
 LIMIT $3::bigint
