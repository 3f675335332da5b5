-- name: insert_instances
-- New rows, in the order given, which becomes the order of seq.
--
--   $1..  an array for each column
--
-- Leaves out rows whose id or key exists already, or whose key is kept.  Returns id and seq of those that are new.
INSERT INTO workflow.workflow_instance
       ({instance.insert})
SELECT {instance.values}
  FROM (SELECT {instance.arrays insert}) AS given
 WHERE given.key IS NULL
    OR (SELECT true
          FROM workflow.workflow_key AS k
         WHERE k.key = given.key AND k.workflow = given.workflow AND k.kind = 'instance'
         LIMIT 1) IS NULL
ON CONFLICT DO NOTHING
RETURNING id::text, seq


-- name: find_existing_instances
-- doing: find instances by key
-- What stands in the way of rows that could not be inserted.
--
--   $1, $2, $3  their ids, workflows and keys
--
-- Ordinal, seq of this very row if it is there, and id and seq of the instance that has the key; of one that was
-- purged its id alone.
SELECT given.ordinal, again.seq, coalesce(other.id, kept.id)::text, other.seq
  FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY
       AS given (id, workflow, key, ordinal)
  LEFT JOIN workflow.workflow_instance AS again ON again.id = given.id
  LEFT JOIN workflow.workflow_instance AS other
         ON other.key = given.key AND other.workflow = given.workflow
  LEFT JOIN workflow.workflow_key AS kept
         ON kept.key = given.key AND kept.workflow = given.workflow AND kept.kind = 'instance'


-- name: refuse_kept_instances
-- doing: insert instances
-- Fails, to be tried again, if the key of a row that was just inserted was kept meanwhile.
--
--   $1, $2, $3  ids, workflows and keys
SELECT workflow.refuse_kept_key(given.key)
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS given (id, workflow, key)
 WHERE (SELECT true
          FROM workflow.workflow_key AS k
         WHERE k.key = given.key AND k.workflow = given.workflow AND k.kind = 'instance'
         LIMIT 1)


-- name: find_instances
-- Which of these rows are there at all, in order of id.
--
--   $1  ids
SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY ($1::uuid[])
 ORDER BY i.id


-- name: lock_instances
-- Reads and locks rows, in order of id, leaving out those that another
-- transaction holds.
--
--   $1  ids
--
-- The first column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT {instance.columns i}
      FROM workflow.workflow_instance AS i
     WHERE i.id = ANY ($1::uuid[])
     ORDER BY i.id
       FOR NO KEY UPDATE SKIP LOCKED
)
SELECT clock_timestamp(), locked.*
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: lock_instances_waiting
-- doing: lock instances
-- Reads and locks rows, in order of id; waits for each up to
-- lock_timeout.
--
--   $1  ids
--
-- The first column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT {instance.columns i}
      FROM workflow.workflow_instance AS i
     WHERE i.id = ANY ($1::uuid[])
     ORDER BY i.id
       FOR NO KEY UPDATE
)
SELECT clock_timestamp(), locked.*
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: lock_known
-- doing: lock instances
-- Locks rows that nobody has written since a transaction that we know of, and that no other transaction holds.
--
--   $1, $2, $3  ids, the numbers of those transactions, and whether the step at place 0 is to be locked as well
--
-- The first column is the database's clock, as in lock_instances; then which of the given ones a row is, from 1; and whether its
-- step is locked, which a step whose lease a limit counts never is.
SELECT clock_timestamp(), given.ordinal, coalesce(runner.is_held, false)
  FROM unnest($1::uuid[], $2::int[], $3::boolean[]) WITH ORDINALITY AS given (id, version, with_runner, ordinal)
 CROSS JOIN LATERAL (
       SELECT
         FROM workflow.workflow_instance AS i
        WHERE i.id = given.id
          AND i.xmin = given.version
          FOR NO KEY UPDATE SKIP LOCKED) AS i
  LEFT JOIN LATERAL (
       SELECT true AS is_held
         FROM workflow.workflow_step AS s
        WHERE given.with_runner
          AND s.instance_id = given.id
          AND s.seq = 0
          AND NOT s.is_counted
          FOR NO KEY UPDATE SKIP LOCKED) AS runner ON true


-- name: own_version
-- doing: commit
-- The number of this transaction, which the rows that it has written have as xmin; NULL: it has written none.
SELECT pg_current_xact_id_if_assigned()::text::bigint


-- name: update_instances
-- doing: write instances
-- Writes the columns that may change, of rows that this transaction has locked.
--
--   $1..  an array for each of them and for the id
UPDATE workflow.workflow_instance AS i
   SET {instance.changes}
  FROM (SELECT {instance.arrays changes}) AS given
 WHERE i.id = given.id


-- name: advance_instances
-- doing: write instances
-- Writes what changes while a function goes on, of rows that nobody has locked: those that a transaction which we know of has
-- written, and nobody since.  Fails if one of them is not, so that what is sent behind this, the commit as well, is not carried out.
--
--   $1, $2   ids, and the numbers of those transactions
--   $3, $4   commits, revisions
--   $5, $6   places, numbers of events
--   $7       slots of the latest events in the row of the log that this transaction was given with its begin
--   $8       the time of the transaction
--
-- Whoever holds a row for longer than a moment is not waited for: the other way leaves that row out.
WITH written AS (
    UPDATE workflow.workflow_instance AS i
       SET commits = given.commits,
           revision = given.revision,
           places = given.places,
           event_count = given.event_count,
           last_event = (SELECT currval('workflow.workflow_event_id_seq') << 12) + given.slot,
           updated_at = $8::timestamptz
      FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int[]) AS version,
                   unnest($3::bigint[]) AS commits, unnest($4::bigint[]) AS revision,
                   unnest($5::int[]) AS places, unnest($6::int[]) AS event_count,
                   unnest($7::int[]) AS slot) AS given
     WHERE i.id = given.id
       AND i.xmin = given.version
       AND i.last_event < (SELECT currval('workflow.workflow_event_id_seq') << 12)
       AND (SELECT set_config('lock_timeout', '20ms', true)) IS NOT NULL
    RETURNING 1
)
SELECT (CASE WHEN count(*) = cardinality($1::uuid[]) THEN '0'
             ELSE 'an instance was written elsewhere; its commit is repeated' END)::int
  FROM written


-- name: get_instance
-- doing: read an instance
-- One row.
--
--   $1  id
SELECT {instance.columns i}
  FROM workflow.workflow_instance AS i
 WHERE i.id = $1::uuid


-- name: read_instances
-- Rows of a set.
--
--   $1  their ids
--
-- The first column says which of the given ones a row is, from 1; the second which transaction has written it.
SELECT given.ordinal, i.xmin::text::bigint,
       {instance.columns i}
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
  JOIN workflow.workflow_instance AS i ON i.id = given.id


-- name: count_instances
-- How many there are of each status that is not final.  Reads an index, not the
-- table, and nothing of what has ended.
SELECT i.status, count(*)
  FROM workflow.workflow_instance AS i
 WHERE i.status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
 GROUP BY i.status


-- name: find_telling
-- doing: find instances to tell of
-- Instances whose relatives are to be told, oldest first.
--
--   $1  how many at most
--
-- Walks idx_workflow_instance_telling.
SELECT {instance.columns i}
  FROM workflow.workflow_instance AS i
 WHERE i.is_telling
 ORDER BY i.seq
 LIMIT $1::bigint


-- name: list_children
-- Children of an instance that have not ended, oldest first.
--
--   $1  whose
--   $2  of the step at this place; -1: all
--   $3  1: also those that are compensating
--   $4  how many at most
--
-- Walks idx_workflow_instance_living.
SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.parent = $1::uuid
   AND i.finished_at IS NULL
   AND ($2::bigint < 0 OR i.parent_seq = $2::bigint)
   AND ($3::bigint = 1 OR i.status <> 'compensating')
 ORDER BY i.parent, i.seq
 LIMIT $4::bigint


-- name: list_done_children
-- doing: look for children
-- Children of a step that are to be rolled back, the last element first.
--
--   $1  whose
--   $2  the place of the step
--   $3  the step's round
--   $4  numbers below this
--   $5  how many at most
--
-- Walks idx_workflow_instance_parent.
SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.parent = $1::uuid AND i.parent_seq = $2::bigint AND i.parent_round = $3::bigint
   AND i.seq < $4::bigint
   AND i.status NOT IN ('cancelled', 'aborted')
 ORDER BY i.parent DESC, i.seq DESC
 LIMIT $5::bigint


-- name: get_step_children
-- doing: read the children of a step
--
--   $1  whose
--   $2  the place of the step
SELECT {children.columns c}
  FROM workflow.workflow_step_children AS c
 WHERE c.instance_id = $1::uuid AND c.seq = $2::bigint


-- name: put_step_children
-- doing: write the children of a step
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_step_children
       ({children.insert})
SELECT {children.values}
  FROM (SELECT {children.arrays insert}) AS given
ON CONFLICT (instance_id, seq) DO UPDATE
   SET {children.excluded}


-- name: count_untold
-- doing: look for children
-- Children that are yet to be stopped because an instance, or a descendant of it, was.
--
--   $1  which instance
--
-- Walks idx_workflow_instance_telling, from there up to the eldest, and idx_workflow_instance_living.
WITH RECURSIVE up AS (
       SELECT t.id AS telling, t.id, t.parent
         FROM workflow.workflow_instance AS t
        WHERE t.is_telling AND t.child_count > 0
       UNION ALL
       SELECT up.telling, p.id, p.parent
         FROM up
         JOIN workflow.workflow_instance AS p ON p.id = up.parent)
SELECT count(*)
  FROM up
  JOIN workflow.workflow_instance AS t ON t.id = up.telling
  JOIN workflow.workflow_instance AS c ON c.parent = t.id AND c.finished_at IS NULL
 WHERE up.id = $1::uuid
   AND (t.status = 'aborted'
        OR (c.status <> 'compensating'
            AND (t.status = 'cancelled' OR t.goal = 'cancel'
                 OR EXISTS (SELECT FROM workflow.workflow_step_children AS s
                             WHERE s.instance_id = t.id AND s.seq = c.parent_seq
                               AND s.round = c.parent_round AND s.is_ending))))


-- name: find_ending_children
-- doing: look for children
-- Steps whose children are to be cancelled.
--
--   $1  whose
--   $2  how many at most
SELECT {children.columns c}
  FROM workflow.workflow_step_children AS c
 WHERE c.instance_id = $1::uuid AND c.is_ending AND c.living > 0
 LIMIT $2::bigint


-- name: put_elements
-- doing: write the elements of a map
--
--   $1..  an array for each column
INSERT INTO workflow.workflow_map_elements
       ({elements.insert})
SELECT {elements.values}
  FROM (SELECT {elements.arrays insert}) AS given


-- name: get_elements
-- doing: read the elements of a map
--
--   $1, $2, $3, $4  instance, place, round and first element
SELECT {elements.columns e}
  FROM workflow.workflow_map_elements AS e
 WHERE e.instance_id = $1::uuid AND e.seq = $2::bigint AND e.round = $3::bigint
   AND e.first = $4::bigint


-- name: list_child_outputs
-- doing: read the outputs of children
--
--   $1  whose
--   $2  the place of the step
--   $3  the step's round
--   $4  numbers after this
--   $5  how many at most
--
-- Walks idx_workflow_instance_parent.
SELECT {child_output.columns i}
  FROM workflow.workflow_instance AS i
 WHERE i.parent = $1::uuid AND i.parent_seq = $2::bigint AND i.parent_round = $3::bigint
   AND i.seq > $4::bigint
   AND i.status = 'completed'
 ORDER BY i.parent, i.seq
 LIMIT $5::bigint
