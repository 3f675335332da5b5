-- next_due: when the next timer of a job is due.
--
--   $1, $2  which run_at to look at: from, to
--   $3, $4  which ends of leases: from, to
--
-- One row: the earliest run_at of a job for later, NULL for none; the microseconds that finding it
-- took; the earliest end of a lease (it has run out a microsecond after it); its microseconds.  One
-- look at the head of each index.

SELECT (SELECT r.run_at
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND NOT r.is_ready
           AND r.run_at >= $1::timestamptz AND r.run_at <= $2::timestamptz
         ORDER BY r.run_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint,
       (SELECT r.lease_until
          FROM workflow.workflow_run AS r
         WHERE r.status = 'leased'
           AND r.lease_until >= $3::timestamptz AND r.lease_until <= $4::timestamptz
         ORDER BY r.lease_until
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
