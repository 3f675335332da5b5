-- name: insert_instance
-- doing: insert an instance
-- One new instance, unless its id or its key is known.
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_instance ({instance.insert})
VALUES ({instance.values})
ON CONFLICT DO NOTHING;


-- name: find_known_instance
-- doing: find the instance of a key
-- Why insert_instance refused.
--
--   :id, :workflow, :key  of the instance that was not inserted
--
-- One row: seq and id of the instance that is there already, or 0 and the id of one whose key is kept.  The same
-- id comes before the same key.
SELECT seq, id FROM workflow_instance WHERE id = :id
UNION ALL
SELECT seq, id FROM workflow_instance WHERE key = :key AND workflow = :workflow
UNION ALL
SELECT 0, id FROM workflow_key WHERE kind = 'instance' AND workflow = :workflow AND key = :key
LIMIT 1;


-- name: find_instance_seq
-- doing: find an instance
-- An instance's number, which its steps' ids begin with.
--
--   :id  which
--
-- One row or none.  Reads the index on id alone.
SELECT seq
  FROM workflow_instance
 WHERE id = :id;


-- name: update_instance
-- doing: update an instance
-- Writes what may change of an instance that was read in this transaction, but for its status.
UPDATE workflow_instance
   SET {instance.changes but status}
 WHERE id = :id;


-- name: update_instance_status
-- doing: update an instance
-- Writes the status of an instance.
--
--   :status  what it is now
--   :id      which
--
-- Apart from the rest, since most changes leave the status as it is, and then its indexes need
-- not be written.
UPDATE workflow_instance
   SET status = :status
 WHERE id = :id
   AND status <> :status;


-- name: get_instance
-- doing: read an instance
-- An instance, whole.
--
--   :id  which
--
-- One row or none.
SELECT {instance.columns}
  FROM workflow_instance
 WHERE id = :id;


-- name: count_instances
-- How many there are of each status that is not final.
--
-- Rows (status, count).  The second condition says nothing new, but lets SQLite see that the
-- index holds all of them.
SELECT status, count(*)
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
   AND status <> 'completed'
 GROUP BY status;


-- name: find_telling
-- doing: find instances to tell of
-- Instances whose relatives are to be told, oldest first.
--
--   :room  how many at most
--
-- Walks idx_workflow_instance_telling.
SELECT {instance.columns}
  FROM workflow_instance INDEXED BY idx_workflow_instance_telling
 WHERE is_telling = 1
 ORDER BY seq
 LIMIT :room;


-- name: list_children
-- Children of an instance that have not ended, oldest first.
--
--   :parent        whose
--   :seq           of the step at this place; NULL: all
--   :compensating  1: also those that are compensating
--   :room          how many at most
--
-- Walks idx_workflow_instance_living.
SELECT id
  FROM workflow_instance INDEXED BY idx_workflow_instance_living
 WHERE parent = :parent
   AND finished_at IS NULL
   AND (:seq IS NULL OR parent_seq = :seq)
   AND (:compensating OR status <> 'compensating')
 ORDER BY seq
 LIMIT :room;


-- name: list_done_children
-- doing: look for children
-- Children of a step that are to be rolled back, the last element first.
--
--   :parent  whose
--   :seq     the place of the step
--   :round   the step's round
--   :below   numbers below this
--   :room    how many at most
--
-- Walks idx_workflow_instance_parent.
SELECT id
  FROM workflow_instance INDEXED BY idx_workflow_instance_parent
 WHERE parent = :parent AND parent_seq = :seq AND parent_round = :round AND seq < :below
   AND status NOT IN ('cancelled', 'aborted')
 ORDER BY seq DESC
 LIMIT :room;


-- name: get_step_children
-- doing: read the children of a step
--
--   :instance_id  whose
--   :seq          the place of the step
SELECT {children.columns}
  FROM workflow_step_children
 WHERE instance_id = :instance_id AND seq = :seq;


-- name: put_step_children
-- doing: write the children of a step
INSERT INTO workflow_step_children ({children.insert})
VALUES ({children.values})
ON CONFLICT (instance_id, seq) DO UPDATE
   SET {children.excluded};


-- name: count_untold
-- doing: look for children
-- Children that are yet to be stopped because an instance, or a descendant of it, was.
--
--   :id      which instance
--   :cancel  GOAL_CANCEL
--
-- Walks idx_workflow_instance_telling, from there up to the eldest, and idx_workflow_instance_living.
WITH RECURSIVE up(telling, id, parent) AS (
       SELECT id, id, parent
         FROM workflow_instance INDEXED BY idx_workflow_instance_telling
        WHERE is_telling = 1 AND child_count > 0
       UNION ALL
       SELECT up.telling, p.id, p.parent
         FROM up
         JOIN workflow_instance AS p ON p.id = up.parent)
SELECT count(*)
  FROM up
  JOIN workflow_instance AS t ON t.id = up.telling
  JOIN workflow_instance AS c ON c.parent = t.id AND c.finished_at IS NULL
 WHERE up.id = :id
   AND (t.status = 'aborted'
        OR (c.status <> 'compensating'
            AND (t.status = 'cancelled' OR t.goal = :cancel
                 OR EXISTS (SELECT 1 FROM workflow_step_children AS s
                             WHERE s.instance_id = t.id AND s.seq = c.parent_seq
                               AND s.round = c.parent_round AND s.is_ending = 1))));


-- name: find_ending_children
-- doing: look for children
-- Steps whose children are to be cancelled.
--
--   :instance_id  whose
--   :room         how many at most
SELECT {children.columns}
  FROM workflow_step_children
 WHERE instance_id = :instance_id AND is_ending = 1 AND living > 0
 LIMIT :room;


-- name: put_elements
-- doing: write the elements of a map
INSERT INTO workflow_map_elements ({elements.insert})
VALUES ({elements.values});


-- name: get_elements
-- doing: read the elements of a map
--
--   :instance_id, :seq, :round, :first  which portion
SELECT {elements.columns}
  FROM workflow_map_elements
 WHERE instance_id = :instance_id AND seq = :seq AND round = :round AND first = :first;


-- name: list_child_outputs
-- doing: read the outputs of children
--
--   :parent  whose
--   :seq     the place of the step
--   :round   the step's round
--   :after   numbers after this
--   :room    how many at most
--
-- Walks idx_workflow_instance_parent.
SELECT {child_output.columns}
  FROM workflow_instance INDEXED BY idx_workflow_instance_parent
 WHERE parent = :parent AND parent_seq = :seq AND parent_round = :round AND seq > :after
   AND status = 'completed'
 ORDER BY seq
 LIMIT :room;
