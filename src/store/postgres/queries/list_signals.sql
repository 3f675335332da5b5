-- list_signals: signals that nobody has taken, in the order of the instances, oldest first.
--
--   $1  instances
--   $2  of the first only those after this one
--   $3  how many at most
--
-- Few are not taken, perhaps many are: idx_workflow_signal_untaken finds the former, and those of
-- one instance are put in order afterwards.  Asked for both at once, the planner would walk the
-- primary key.

SELECT s.seq, s.instance_id::text, s.id, s.event, s.payload::text, s.received_at
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
 CROSS JOIN LATERAL (
         WITH untaken AS MATERIALIZED (
              SELECT g.seq, g.instance_id, g.id, g.event, g.payload, g.received_at
                FROM workflow.workflow_signal AS g
               WHERE g.instance_id = given.id
                 AND g.taken_by IS NULL)
       SELECT u.*
         FROM untaken AS u
        WHERE u.seq > CASE given.ordinal WHEN 1 THEN $2::bigint ELSE 0 END
        ORDER BY u.seq) AS s
 LIMIT $3::bigint
