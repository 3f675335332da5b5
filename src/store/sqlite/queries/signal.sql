-- name: insert_signal
-- One signal, unless its id is known for this instance.
--
--   one parameter for each column; see the table
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_signal (instance_id, id, event, received_at, taken_by, was_taken,
                             payload)
VALUES (:instance_id, :id, :event, :received_at, :taken_by, 0, :payload)
ON CONFLICT (instance_id, id) DO NOTHING;


-- name: find_known_signal
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
-- The oldest signal of an event that nobody has taken.
--
--   :instance_id, :event  which
--   :until                received at or before this
--
-- One row or none.  Walks idx_workflow_signal_untaken.
SELECT seq, id, event, payload, received_at
  FROM workflow_signal INDEXED BY idx_workflow_signal_untaken
 WHERE taken_by IS NULL
   AND instance_id = :instance_id
   AND event = :event
   AND received_at <= :until
 ORDER BY seq
 LIMIT 1;


-- name: list_signals
-- Signals of an instance that nobody has taken, oldest first.
--
--   :instance_id  whose
--   :after        only those after this one
--   :room         how many at most
--
-- Walks idx_workflow_signal_untaken.  That is in the order of events, so what waits is sorted: the
-- numbers alone, without the payloads.
SELECT seq, id, event, payload, received_at
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
-- Says which step has taken a signal.
--
--   :instance_id, :seq  which
--   :taken_by           the step's place; NULL: none
UPDATE workflow_signal
   SET taken_by = :taken_by
 WHERE seq = :seq
   AND instance_id = :instance_id;


-- name: keep_signal_taken
-- The sender of a signal is told that it was taken.
--
--   :instance_id, :seq  which
UPDATE workflow_signal
   SET was_taken = 1
 WHERE seq = :seq
   AND instance_id = :instance_id;


-- name: unmark_signals
-- Lets signals of an instance be not taken.
--
--   :instance_id  whose
--   :taken_by     only those that the step at this place took; NULL: all
UPDATE workflow_signal
   SET taken_by = NULL
 WHERE instance_id = :instance_id
   AND taken_by IS NOT NULL
   AND (:taken_by IS NULL OR taken_by = :taken_by);
