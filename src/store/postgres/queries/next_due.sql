-- next_due: when the next timer is due; NULL: never.
--
-- A lease has run out a microsecond after its end.

SELECT least((SELECT r.run_at
                FROM workflow.workflow_run AS r
               WHERE r.status = 'pending' AND NOT r.is_ready
               ORDER BY r.run_at
               LIMIT 1),
             (SELECT r.lease_until + interval '1 microsecond'
                FROM workflow.workflow_run AS r
               WHERE r.status = 'leased' AND r.lease_until IS NOT NULL
               ORDER BY r.lease_until
               LIMIT 1))
