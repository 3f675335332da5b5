-- name: update_step
-- doing: update a step
-- Writes what may change of a step that was read in this transaction.
--
--   :is_current  whether the index of current steps holds it
UPDATE workflow_step
   SET is_current = :is_current,
       {step.changes}
 WHERE id = :instance_seq << 20 | :seq;


-- name: delete_step
-- doing: forget a step
-- Removes a step, if it is there.
--
--   :id  which
DELETE FROM workflow_step
 WHERE id = :id;


-- name: list_committed_steps
-- doing: find steps to undo
-- Steps of one instance that have ended, the latest first, whole.
--
--   :instance_id  whose
--   :below        those with a lower commit number
--   :from, :to    between these places, both included
--   :room         how many at most
--
-- Walks idx_workflow_step_committed backwards.
SELECT {step.columns}
  FROM workflow_step INDEXED BY idx_workflow_step_committed
 WHERE commit_no IS NOT NULL
   AND instance_seq = (SELECT seq FROM workflow_instance WHERE id = :instance_id)
   AND commit_no < :below
   AND seq BETWEEN :from AND :to
 ORDER BY commit_no DESC
 LIMIT :room;


-- name: list_current_steps
-- doing: find current steps
-- Steps of one instance that are under way, by place, whole.
--
--   :instance_id  whose
--   :after        those behind this place
--   :room         how many at most
--
-- Walks idx_workflow_step_current, which holds nothing that is planned or ended.
SELECT {step.columns}
  FROM workflow_step INDEXED BY idx_workflow_step_current
 WHERE is_current = 1
   AND instance_seq = (SELECT seq FROM workflow_instance WHERE id = :instance_id)
   AND id > (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id) + :after
 ORDER BY id
 LIMIT :room;


-- name: list_open_steps
-- doing: list steps
-- As list_current_steps, without payloads.
SELECT {step.columns but input output passed}, NULL AS input, NULL AS output, NULL AS passed
  FROM workflow_step INDEXED BY idx_workflow_step_current
 WHERE is_current = 1
   AND instance_seq = (SELECT seq FROM workflow_instance WHERE id = :instance_id)
   AND id > (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id) + :after
 ORDER BY id
 LIMIT :room;


-- name: next_task_type
-- doing: find waiting types
-- The first type in a range that has a step to claim.
--
--   :from   this type or a greater one
--   :below  but less than this; a BLOB is greater than every text
--
-- One row, the type; or none.  One probe of idx_workflow_step_ready.
SELECT task_type
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type >= :from
   AND task_type < :below
 ORDER BY task_type
 LIMIT 1;


-- name: next_step_turn
-- doing: find ready steps
-- The next pair of version and priority that has a step of a lane to claim, the
-- highest first.
--
--   :type, :group        which
--   :is_lane             0: none if the type has lanes (limit.sql)
--   :version, :priority  of this version at most this priority, or of a lower version any
--   :from_version        but not a version below this
--   :runtime             who asks; NULL: any runtime
--
-- One row (version, priority); or none, also if the registry disables the type or gives it to
-- another runtime.  One probe of idx_workflow_step_ready: with < in place of <= it would walk
-- all steps of the pair before.
SELECT version, priority
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = iif(EXISTS (SELECT 1
                                 FROM workflow_registry
                                WHERE workflow_name = :type
                                  AND (is_enabled = 0 OR runtime <> :runtime))
                       OR (:is_lane = 0
                           AND (EXISTS (SELECT 1 FROM workflow_group_type WHERE type = :type)
                                OR EXISTS (SELECT 1
                                             FROM workflow_limit
                                            WHERE types = :type
                                               OR (substr(types, -1) = '%'
                                                   AND substr(:type, 1, length(types) - 1)
                                                       = substr(types, 1, length(types) - 1))))),
                       NULL, :type)
   AND "group" = :group
   AND (version, priority) <= (:version, :priority)
   AND version >= :from_version
 ORDER BY version DESC, priority DESC
 LIMIT 1;


-- name: claim_step_heads
-- doing: find ready steps
-- Steps of one lane, version and priority, the longest waiting first.
--
--   :type, :group, :version, :priority  which
--   :room                               how many at most
--
-- Rows (next_run_at, id).  Reads idx_workflow_step_ready alone, from the beginning of the four.
SELECT next_run_at, id
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = :type
   AND "group" = :group
   AND version = :version
   AND priority = :priority
 ORDER BY next_run_at, id
 LIMIT :room;


-- name: read_claimed_step
-- doing: read a ready step
-- A step, whole, with its instance's id.
--
--   :id  which
--
-- One row or none.
SELECT {step.columns step}, instance.id AS instance_id
  FROM workflow_step AS step
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.id = :id;


-- name: find_claimed_steps
-- doing: find what a claim took
-- The steps that one claim holds, in the order of a claim without aging,
-- whole, with their instances' ids.
--
--   :worker, :token  of the claim
--   :room            how many at most
--
-- Walks idx_workflow_step_leased, which is as long as there are leases.
SELECT {step.columns step}, instance.id AS instance_id
  FROM workflow_step AS step INDEXED BY idx_workflow_step_leased
  JOIN workflow_instance AS instance ON instance.seq = step.id >> 20
 WHERE step.locked_by IS NOT NULL
   AND step.locked_by = :worker
   AND step.token = :token
   AND step.status IN ('running', 'compensation')
 ORDER BY step.priority DESC, step.next_run_at, step.id
 LIMIT :room;


-- name: read_step
-- doing: read a step
-- A step, whole.
--
--   :id  which
--
-- One row or none.
SELECT {step.columns}
  FROM workflow_step
 WHERE id = :id;


-- name: get_step
-- doing: read a step
-- The step of an instance that has this name, whole.
--
--   :instance_id  whose
--   :name         which
--   :room         1
--
-- One row or none.  Walks the instance's steps: names are asked for by people, and an index on
-- them would be written at every start.
SELECT {step.columns}
  FROM workflow_step
 WHERE id BETWEEN (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
              AND (SELECT seq << 20 | 1048575 FROM workflow_instance WHERE id = :instance_id)
   AND name = :name
 ORDER BY id
 LIMIT :room;


-- name: list_steps
-- Steps of one instance, by place, whole.
--
--   :instance_id  whose
--   :from, :to    between these places, both included
--   :status       NULL: any
--   :room         how many at most
--
-- The bounds keep a place that no id has room for from meaning another instance.
SELECT {step.columns}
  FROM workflow_step
 WHERE id BETWEEN (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
                  + max(:from, 0)
              AND (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
                  + min(:to, 1048575)
   AND (:status IS NULL OR status = :status)
 ORDER BY id
 LIMIT :room;


-- name: list_fork_steps
-- doing: list steps
-- As list_steps, without payloads.
SELECT {step.columns but input output passed}, NULL AS input, NULL AS output, NULL AS passed
  FROM workflow_step
 WHERE id BETWEEN (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
                  + max(:from, 0)
              AND (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
                  + min(:to, 1048575)
 ORDER BY id
 LIMIT :room;


-- name: list_shown_steps
-- doing: find current steps
-- As list_current_steps, but only those whose status says so.
SELECT {step.columns}
  FROM workflow_step INDEXED BY idx_workflow_step_current
 WHERE is_current = 1
   AND status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
   AND instance_seq = (SELECT seq FROM workflow_instance WHERE id = :instance_id)
   AND id > (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id) + :after
 ORDER BY id
 LIMIT :room;


-- name: list_ready_types
-- Which types of steps can be claimed, by version and priority, and since when.
--
--   :room  how many at most
--
-- Rows (type, version, next_run_at, instance_id), of the step of each that waits longest; of steps that
-- have groups those of the first group, of functions, whose versions may differ, those of each.  Leaps through idx_workflow_step_ready from one triple to the next.
WITH RECURSIVE walk (id, type, "group", version, priority, since) AS (
    SELECT id, task_type, "group", version, priority, next_run_at
      FROM workflow_step
     WHERE id = (SELECT id
                   FROM workflow_step INDEXED BY idx_workflow_step_ready
                  WHERE is_ready = 1
                  ORDER BY task_type, "group", version, priority, next_run_at
                  LIMIT 1)
    UNION ALL
    SELECT next.id, next.task_type, next."group", next.version, next.priority, next.next_run_at
      FROM walk
      JOIN workflow_step AS next
        ON next.id = coalesce(
                       (SELECT later.id
                          FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                         WHERE later.is_ready = 1
                           AND later.task_type = walk.type AND later."group" = walk."group"
                           AND (later.version, later.priority) >= (walk.version, walk.priority + 1)
                         ORDER BY later.version, later.priority, later.next_run_at
                         LIMIT 1),
                       (SELECT later.id
                          FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                         WHERE later.is_ready = 1
                           AND later.task_type = iif(walk.version > 0, walk.type, NULL)
                           AND later."group" >= walk."group" || char(1)
                         ORDER BY later."group", later.version, later.priority, later.next_run_at
                         LIMIT 1),
                       (SELECT later.id
                          FROM workflow_step AS later INDEXED BY idx_workflow_step_ready
                         WHERE later.is_ready = 1
                           AND later.task_type >= walk.type || char(1)
                         ORDER BY later.task_type, later."group", later.version, later.priority,
                                  later.next_run_at
                         LIMIT 1))
)
SELECT type, version, since,
       (SELECT instance.id
          FROM workflow_instance AS instance
         WHERE instance.seq = walk.id >> 20)
  FROM walk
 LIMIT :room;


-- name: count_steps
-- How many steps can be claimed and how many are leased.
--
-- One row: ready, leased.  Walks the indexes of those alone.
SELECT (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_ready
         WHERE is_ready = 1),
       (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL);


-- name: read_statuses
-- doing: read steps
-- The places and statuses of an instance's first steps.
--
--   :instance_id  whose
--   :below        those before this place
SELECT id & 1048575, status
  FROM workflow_step
 WHERE id >= (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id)
   AND id < (SELECT seq << 20 FROM workflow_instance WHERE id = :instance_id) + :below;
