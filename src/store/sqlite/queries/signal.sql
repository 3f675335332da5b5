-- name: insert_signal
-- doing: insert a signal
-- One signal, unless its id is known for this instance.  It was not taken on arrival.
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_signal ({signal.insert but was_taken}, was_taken)
VALUES ({signal.values but was_taken}, 0)
ON CONFLICT (instance_id, id) DO NOTHING;


-- name: find_known_signal
-- doing: find a signal
-- The signal that an instance knows by an id, and how its sender was answered.
--
--   :instance_id, :id  of the signal
--
-- One row or none.  Earlier versions did not keep the answer: there taken_by is the best guess.
SELECT seq, coalesce(was_taken, taken_by IS NOT NULL)
  FROM workflow_signal
 WHERE instance_id = :instance_id
   AND id = :id;


-- name: find_signal
-- doing: find a signal
-- The oldest signal of an event that is not taken.
--
--   :instance_id, :event  which
--   :until                received at or before this
--
-- One row or none.  Walks idx_workflow_signal_untaken.
SELECT {signal.columns}
  FROM workflow_signal INDEXED BY idx_workflow_signal_untaken
 WHERE taken_by IS NULL
   AND instance_id = :instance_id
   AND event = :event
   AND received_at <= :until
 ORDER BY seq
 LIMIT 1;


-- name: list_signals
-- Signals of an instance that are not taken, oldest first.
--
--   :instance_id  whose
--   :after        only those after this one
--   :room         how many at most
--
-- Walks idx_workflow_signal_untaken.  That is in the order of events, so what waits is sorted: the
-- numbers alone, without the payloads.
SELECT {signal.columns}
  FROM workflow_signal
 WHERE seq IN (SELECT seq
                 FROM workflow_signal INDEXED BY idx_workflow_signal_untaken
                WHERE taken_by IS NULL
                  AND instance_id = :instance_id
                  AND seq > :after
                ORDER BY seq
                LIMIT :room)
 ORDER BY seq;


-- name: mark_signal
-- doing: mark a signal
-- Says which step has taken a signal.
--
--   :instance_id, :seq  which
--   :taken_by           the step's place; NULL: none
UPDATE workflow_signal
   SET taken_by = :taken_by
 WHERE seq = :seq
   AND instance_id = :instance_id;


-- name: keep_signal_taken
-- doing: mark a signal
-- The sender of a signal is told that it was taken.
--
--   :instance_id, :seq  which
UPDATE workflow_signal
   SET was_taken = 1
 WHERE seq = :seq
   AND instance_id = :instance_id;


-- name: unmark_signals
-- doing: mark a signal
-- Lets signals of an instance be not taken.
--
--   :instance_id  whose
--   :taken_by     only those that the step at this place took; NULL: all
UPDATE workflow_signal
   SET taken_by = NULL
 WHERE instance_id = :instance_id
   AND taken_by IS NOT NULL
   AND (:taken_by IS NULL OR taken_by = :taken_by);


-- name: list_all_signals
-- doing: list signals
-- Signals of an instance, oldest first.
--
--   :instance_id  whose
--   :after        only those after this one
--   :room         how many at most
--
-- The instance's entries of the index of ids are sorted.
SELECT {signal.columns}
  FROM workflow_signal
 WHERE seq IN (SELECT seq
                 FROM workflow_signal
                WHERE instance_id = :instance_id
                  AND seq > :after
                ORDER BY seq
                LIMIT :room)
 ORDER BY seq;
