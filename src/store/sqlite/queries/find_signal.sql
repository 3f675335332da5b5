-- find_signal: the oldest signal of an event that nobody has taken.
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
