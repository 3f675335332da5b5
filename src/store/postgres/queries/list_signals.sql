-- list_signals: the signals of an instance that nobody has taken, oldest first.
--
--   $1  instance
--   $2  how many at most
--
-- Few are not taken, perhaps many are: idx_workflow_signal_untaken finds the former, and they are
-- put in order afterwards.  Asked for both at once, the planner would walk the primary key.

WITH untaken AS MATERIALIZED (
    SELECT g.seq, g.instance_id, g.id, g.event, g.payload, g.received_at
      FROM workflow.workflow_signal AS g
     WHERE g.instance_id = $1::uuid
       AND g.taken_by IS NULL
)
SELECT u.seq, u.instance_id::text, u.id, u.event, u.payload::text, u.received_at
  FROM untaken AS u
 ORDER BY u.seq
 LIMIT $2::bigint
