-- name: put_workers
-- doing: note workers
-- What a process has seen of workers.
--
--   :rows  a JSON list
INSERT INTO workflow_worker (name, process, types, runtime, places, first_seen, last_seen)
SELECT value ->> 'name', value ->> 'process', value -> 'types', value ->> 'runtime',
       value ->> 'places', value ->> 'first_seen', value ->> 'last_seen'
  FROM json_each(:rows)
 WHERE true
    ON CONFLICT (name, process) DO UPDATE
   SET types     = excluded.types,
       runtime   = excluded.runtime,
       places    = excluded.places,
       last_seen = excluded.last_seen;


-- name: drop_old_workers
-- doing: forget workers
-- Those that nobody has seen for long.
--
--   :before  last seen before this time
DELETE FROM workflow_worker
 WHERE last_seen < :before;


-- name: forget_workers
-- Those of a process.
--
--   :process  which
DELETE FROM workflow_worker
 WHERE process = :process;


-- name: list_workers
-- doing: list workers
-- All, in order of name.
--
--   :room  how many at most
SELECT {worker.columns}
  FROM workflow_worker
 ORDER BY name, last_seen DESC
 LIMIT :room;


-- name: list_held_jobs
-- doing: list what a worker holds
-- The jobs that a worker has leased, whole.
--
--   :worker  whose
--   :room    how many at most
--
-- Walks idx_workflow_run_leased, which is as long as there are leases.
SELECT {job.columns}
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND leased_by = :worker
 ORDER BY lease_until
 LIMIT :room;


-- name: list_held_steps
-- doing: list what a worker holds
-- The steps that a worker has leased, whole, with their instances' ids.
--
--   :worker  whose
--   :room    how many at most
--
-- Walks idx_workflow_step_leased, which is as long as there are leases.
SELECT {step.columns step}, instance.id AS instance_id
  FROM workflow_step AS step INDEXED BY idx_workflow_step_leased
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.locked_by IS NOT NULL
   AND step.locked_by = :worker
 ORDER BY step.due_at
 LIMIT :room;


-- name: count_ready_jobs
-- doing: count tasks
-- How many jobs of a type can be claimed, and since when the oldest of them could.  Reads the index alone.
--
--   :type  which
--   :most  how far to count
SELECT count(*), min(run_at)
  FROM (SELECT run_at
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
           AND type = :type
         LIMIT :most);


-- name: count_ready_steps
-- doing: count tasks
-- The same of steps.
SELECT count(*), min(next_run_at)
  FROM (SELECT next_run_at
          FROM workflow_step INDEXED BY idx_workflow_step_ready
         WHERE is_ready = 1
           AND task_type = :type
         LIMIT :most);


-- name: count_unready
-- doing: count tasks
-- Rows (type, jobs for later, leased jobs, leased steps), in order.  Walks the indexes of these.
--
--   :most  how many of each are looked at
--   :room  how many rows at most
SELECT type, sum(what = 0), sum(what = 1), sum(what = 2)
  FROM (SELECT type, what
          FROM (SELECT type, 0 AS what
                  FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                 WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
                 LIMIT :most)
         UNION ALL
        SELECT type, what
          FROM (SELECT type, 1 AS what
                  FROM workflow_run INDEXED BY idx_workflow_run_leased
                 WHERE status = 'leased'
                 LIMIT :most)
         UNION ALL
        SELECT type, what
          FROM (SELECT task_type AS type, 2 AS what
                  FROM workflow_step INDEXED BY idx_workflow_step_leased
                 WHERE locked_by IS NOT NULL
                   AND task_type IS NOT NULL
                 LIMIT :most))
 GROUP BY type
 ORDER BY type
 LIMIT :room;
