-- name: put_schedule
-- doing: write a schedule
-- One, new or in place of the one with that name.
INSERT INTO workflow_schedule ({schedule.insert})
VALUES ({schedule.values})
ON CONFLICT (name) DO UPDATE
   SET {schedule.excluded};


-- name: get_schedule
-- doing: read a schedule
-- One.
--
--   :name  which
SELECT {schedule.columns}
  FROM workflow_schedule
 WHERE name = :name;


-- name: list_schedules
-- doing: list schedules
-- In order of name.
--
--   :after  only names after this one
--   :room   how many at most
SELECT {schedule.columns}
  FROM workflow_schedule
 WHERE name > :after
 ORDER BY name
 LIMIT :room;


-- name: delete_schedule
-- doing: remove a schedule
-- One.
--
--   :name  which
DELETE FROM workflow_schedule
 WHERE name = :name;


-- name: delete_schedule_runs
-- doing: remove a schedule
-- The list of its runs.
--
--   :name  which
DELETE FROM workflow_schedule_run
 WHERE schedule = :name;


-- name: find_due_schedules
-- doing: find schedules
-- Those whose time has come, the earliest first, and those whose waiting run can start.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- Walks idx_workflow_schedule_due and idx_workflow_schedule_waiting.
SELECT {schedule.columns s}
  FROM workflow_schedule AS s
 WHERE s.name IN (SELECT due.name
                    FROM workflow_schedule AS due INDEXED BY idx_workflow_schedule_due
                   WHERE due.due_at IS NOT NULL AND due.due_at <= :now
                   UNION ALL
                  SELECT s.name
                    FROM workflow_schedule AS s INDEXED BY idx_workflow_schedule_waiting
                   WHERE s.waiting_at IS NOT NULL AND s.is_paused = 0
                     AND NOT EXISTS (SELECT 1
                     FROM workflow_schedule_run AS run INDEXED BY idx_workflow_schedule_run_open
                    WHERE run.is_open = 1 AND run.schedule = s.name
                      AND (EXISTS (SELECT 1
                                     FROM workflow_run AS job
                                    WHERE job.id = run.run_id AND job.status IN ('pending', 'leased')
                                      AND job.deleted_at IS NULL)
                           OR EXISTS (SELECT 1
                                        FROM workflow_instance AS i
                                       WHERE i.id = run.run_id
                                         AND i.status NOT IN ('completed', 'failed', 'cancelled', 'aborted')))))
 ORDER BY s.due_at IS NULL OR s.due_at > :now, s.due_at, s.name
 LIMIT :room;


-- name: put_schedule_run
-- doing: write a run of a schedule
-- One, new or in place of the one of that time.
INSERT INTO workflow_schedule_run ({schedule_run.insert})
VALUES ({schedule_run.values})
ON CONFLICT (schedule, at) DO UPDATE
   SET {schedule_run.excluded};


-- name: drop_schedule_runs
-- doing: remove runs of a schedule
-- Those that are not open, but not the newest.
--
--   :name  of which schedule
--   :keep  how many stay
DELETE FROM workflow_schedule_run
 WHERE schedule = :name AND is_open = 0
   AND at <= (SELECT at
                FROM workflow_schedule_run
               WHERE schedule = :name
               ORDER BY at DESC
               LIMIT 1 OFFSET :keep);


-- name: list_schedule_runs
-- doing: list runs of a schedule
-- The newest first, with the status that their job or instance has.
--
--   :name     of which schedule
--   :is_open  only those that are open
--   :room     how many at most
SELECT {schedule_run.columns run but status},
       coalesce(CASE WHEN run.is_job = 1
                     THEN (SELECT job.status FROM workflow_run AS job WHERE job.id = run.run_id)
                     ELSE (SELECT i.status FROM workflow_instance AS i WHERE i.id = run.run_id) END,
                CASE WHEN run.is_open = 1 AND run.run_id IS NOT NULL THEN 'gone' ELSE run.status END) AS status
  FROM workflow_schedule_run AS run
 WHERE run.schedule = :name
   AND (:is_open = 0 OR run.is_open = 1)
 ORDER BY run.at DESC
 LIMIT :room;
