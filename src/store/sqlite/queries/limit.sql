-- name: put_limit
-- doing: write a limit
-- One, new or in place of the one with that name.
INSERT INTO workflow_limit ({limit.insert})
VALUES ({limit.values})
ON CONFLICT (name) DO UPDATE
   SET {limit.excluded};


-- name: count_leased_jobs
-- doing: count leases
-- Jobs that are leased and match count from now on.
--
--   :from, :below  a range of types
--
-- Walks idx_workflow_run_leased.
UPDATE workflow_run INDEXED BY idx_workflow_run_leased
   SET is_counted = 1
 WHERE status = 'leased' AND is_counted = 0
   AND type >= :from AND type < :below;


-- name: count_leased_steps
-- doing: count leases
-- Steps that are leased and match count from now on.
--
--   :from, :below  a range of types
--
-- Walks idx_workflow_step_leased.
UPDATE workflow_step INDEXED BY idx_workflow_step_leased
   SET is_counted = 1
 WHERE locked_by IS NOT NULL AND is_counted = 0
   AND task_type >= :from AND task_type < :below;


-- name: get_limit
-- doing: read a limit
-- One.
--
--   :name  which
SELECT {limit.columns}
  FROM workflow_limit
 WHERE name = :name;


-- name: list_limits
-- In order of name.
--
--   :after  only names after this one
--   :room   how many at most
SELECT {limit.columns}
  FROM workflow_limit
 WHERE name > :after
 ORDER BY name
 LIMIT :room;


-- name: delete_limit
-- doing: remove a limit
-- One.
--
--   :name  which
DELETE FROM workflow_limit
 WHERE name = :name;


-- name: delete_buckets
-- doing: remove a limit
-- What is known of its rate.
--
--   :name  of which limit
DELETE FROM workflow_limit_bucket
 WHERE limit_name = :name;


-- name: count_leases
-- How many leases count, of each type and group: of jobs, and of steps.  Then the turns, without a type: group and
-- number.
--
-- Reads idx_workflow_run_counted and idx_workflow_step_counted, which are as long as there are such leases.
SELECT type, "group", count(*)
  FROM workflow_run INDEXED BY idx_workflow_run_counted
 WHERE status = 'leased' AND is_counted = 1
 GROUP BY type, "group"
 UNION ALL
SELECT task_type, "group", count(*)
  FROM workflow_step INDEXED BY idx_workflow_step_counted
 WHERE locked_by IS NOT NULL AND is_counted = 1
 GROUP BY task_type, "group"
 UNION ALL
SELECT NULL, "group", number
  FROM workflow_limit_turn;


-- name: list_buckets
-- doing: read a limit
-- What is spent of a rate.
--
--   :name  of which limit
SELECT {bucket.columns}
  FROM workflow_limit_bucket
 WHERE limit_name = :name;


-- name: put_bucket
-- doing: write a limit
-- What is spent of a rate.
INSERT INTO workflow_limit_bucket ({bucket.insert})
VALUES ({bucket.values})
ON CONFLICT (limit_name, "group") DO UPDATE
   SET {bucket.excluded};


-- name: delete_bucket
-- doing: write a limit
-- A bucket that is full again.
--
--   :limit_name, :group  which
DELETE FROM workflow_limit_bucket
 WHERE limit_name = :limit_name AND "group" = coalesce(:group, '');


-- name: put_turn
-- doing: write a limit
-- Which group was served last.
INSERT INTO workflow_limit_turn ({turn.insert})
VALUES ({turn.values})
ON CONFLICT (number) DO UPDATE
   SET {turn.excluded};


-- name: add_group_type
-- doing: note types with groups
-- This type has lanes from now on.
--
--   :type  which
INSERT INTO workflow_group_type (type) VALUES (:type) ON CONFLICT DO NOTHING;


-- part: has_lanes
-- Whether the type :type has groups or a limit.
EXISTS (SELECT 1 FROM workflow_group_type WHERE type = :type)
OR EXISTS (SELECT 1
             FROM workflow_limit
            WHERE types = :type
               OR (substr(types, -1) = '%'
                   AND substr(:type, 1, length(types) - 1) = substr(types, 1, length(types) - 1)))


-- part: is_elsewhere
-- Whether the type :type is disabled, or is for another runtime than :runtime.
EXISTS (SELECT 1
          FROM workflow_registry
         WHERE workflow_name = :type
           AND (is_enabled = 0 OR runtime <> :runtime))


-- name: is_laned
-- doing: find groups
-- Whether a type has lanes.
--
--   :type     which
--   :runtime  who asks; NULL: any runtime
--
-- One row: 1 or 0; 0 as well if the registry disables the type or gives it to another runtime.
SELECT ({has_lanes}) AND NOT {is_elsewhere};


-- name: next_job_lane
-- doing: find groups with jobs
-- The first group from this one on that has a job of a type to claim.
--
--   :type  which
--   :from  this group or a greater one
--
-- One row, the group; or none.  One probe of idx_workflow_run_claim.
SELECT "group"
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type = :type
   AND "group" >= :from
 ORDER BY "group"
 LIMIT 1;


-- name: claim_job_lane
-- doing: find waiting jobs
-- What of a lane would be claimed next, whole.
--
--   :type, :group  which
--   :room          how many at most
--
-- Reads idx_workflow_run_claim from the beginning of the lane.
SELECT {job.columns}
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type = :type
   AND "group" = :group
 ORDER BY priority, seq
 LIMIT :room;


-- name: next_step_lane
-- doing: find groups with steps
-- The first group from this one on that has a step of a type to claim.
--
--   :type           which
--   :from           this group or a greater one
--   :first, :last   versions that are meant
--
-- One row: the group, and whether it has a step of these versions; or none.  Two probes of
-- idx_workflow_step_ready.
SELECT "group",
       EXISTS (SELECT 1
                 FROM workflow_step AS meant INDEXED BY idx_workflow_step_ready
                WHERE meant.is_ready = 1
                  AND meant.task_type = :type
                  AND meant."group" = step."group"
                  AND meant.version BETWEEN :first AND :last)
  FROM workflow_step AS step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = :type
   AND "group" >= :from
 ORDER BY "group"
 LIMIT 1;


-- name: is_blocked
-- doing: find ready steps
-- What keeps steps in hand from being given.
--
--   :type     which
--   :runtime  who asks; NULL: any runtime
--
-- One row: whether the registry disables the type or gives it to another runtime; whether it has lanes.
SELECT {is_elsewhere},
       {has_lanes};
