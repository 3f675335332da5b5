-- inspect: what doctor wants to know.
--
--   $1  now

SELECT current_setting('server_version'),
       (SELECT max(version) FROM workflow.cairn_schema),
       clock_timestamp(),
       (SELECT count(*)
          FROM workflow.workflow_run AS r
         WHERE r.status = 'leased' AND r.lease_until < $1::timestamptz)
       + (SELECT count(*)
            FROM workflow.workflow_step AS s
           WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL
             AND s.due_at <= $1::timestamptz),
       pg_database_size(current_database()),
       format('fsync=%s synchronous_commit=%s encoding=%s',
              current_setting('fsync'), current_setting('synchronous_commit'),
              current_setting('server_encoding')),
       (SELECT o.created_at
          FROM workflow.workflow_outbox AS o
         WHERE o.acked_at IS NULL
         ORDER BY o.id
         LIMIT 1)
