-- list_signals: signals of an instance that nobody has taken, oldest first.
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
