-- name: insert_job
-- doing: insert a job
-- One new job, unless its id or its key is known.
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_run ({job.insert})
VALUES ({job.values})
ON CONFLICT DO NOTHING;


-- name: find_known_job
-- doing: find the job of a key
-- Why insert_job refused.
--
--   :id, :idempotency_key  of the job that was not inserted
--
-- One row: seq and id of the job that is there already, or 0 and the id of one whose key is kept.  The same id comes
-- before the same key.
SELECT seq, id FROM workflow_run WHERE id = :id
UNION ALL
SELECT seq, id FROM workflow_run WHERE idempotency_key = :idempotency_key
UNION ALL
SELECT 0, id FROM workflow_key WHERE kind = 'job' AND workflow = '' AND key = :idempotency_key
LIMIT 1;


-- name: lock_job
-- doing: read a job
-- A job for change, without payload and result.
--
--   :id  which
--
-- One row or none.  BEGIN IMMEDIATE has locked it already.
SELECT {job.brief}
  FROM workflow_run
 WHERE id = :id;


-- name: lock_expired_jobs
-- doing: find expired leases
-- Leased jobs whose lease has run out, the earliest first.
--
--   :now   microseconds since 1970
--   :room  how many at most
--
-- A lease without an end, which only a hand can have written, has run out.  Jobs without payload and
-- result.  Walks idx_workflow_run_leased.
SELECT {job.brief}
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_until IS NULL
UNION ALL
SELECT {job.brief}
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_until < :now
 ORDER BY lease_until, seq
 LIMIT :room;


-- name: update_job
-- doing: update a job
-- Writes what may change of a job that was read in this transaction; a result of NULL leaves the
-- old one.
UPDATE workflow_run
   SET {job.changes}
 WHERE seq = :seq;


-- name: replace_payload
-- doing: update a job
-- Writes the payload of a job that was read in this transaction.
UPDATE workflow_run
   SET payload = :payload
 WHERE seq = :seq;


-- name: find_completable
-- doing: read a job
-- A job whose lease is held by this worker, under this token.
--
--   :id, :ended_by, :ended_token  which
--   :now                          microseconds since 1970
--
-- One row or none.
SELECT seq, type, attempt, last_event, event_count, schedule, is_counted
  FROM workflow_run
 WHERE id = :id
   AND status = 'leased'
   AND leased_by = :ended_by
   AND lease_token = :ended_token
   AND lease_until >= :now;


-- name: complete_job
-- doing: update a job
-- Writes what a success changes of a job that was read in this transaction.
UPDATE workflow_run
   SET {job.changes but attempt run_at last_error deleted_at is_counted}
 WHERE seq = :seq;


-- name: complete_jobs
-- doing: update jobs
-- The same of jobs whose numbers and events follow each other.
--
--   :seq, :last_event  of the first
--   :last_seq          of the last
UPDATE workflow_run
   SET {job.changes but attempt run_at last_error deleted_at is_counted last_event},
       last_event = :last_event + (seq - :seq)
 WHERE seq BETWEEN :seq AND :last_seq;


-- name: postpone_job
-- doing: postpone a job
-- Takes a job out of the claim index until its time has come.
--
--   :seq  which
--
-- For jobs that others inserted as ready with a run_at in the future.
UPDATE workflow_run
   SET is_ready = 0
 WHERE seq = :seq;


-- name: claim_heads
-- doing: find waiting jobs
-- What of one type would be claimed next, best first.
--
--   :type     which
--   :runtime  who asks; NULL: any runtime
--   :room     how many at most
--
-- Rows (priority, seq); none if the registry disables the type or gives it to another runtime, or if it has
-- lanes (limit.sql).
-- Reads idx_workflow_run_claim alone, from the type's beginning.  The registry stands on the
-- right of type =, so that it is asked once and a disabled backlog is not walked.
SELECT priority, seq
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type = iif(EXISTS (SELECT 1
                            FROM workflow_registry
                           WHERE workflow_name = :type
                             AND (is_enabled = 0 OR runtime <> :runtime))
                  OR EXISTS (SELECT 1 FROM workflow_group_type WHERE type = :type)
                  OR EXISTS (SELECT 1
                               FROM workflow_limit
                              WHERE types = :type
                                 OR (substr(types, -1) = '%'
                                     AND substr(:type, 1, length(types) - 1)
                                         = substr(types, 1, length(types) - 1))),
                  NULL, :type)
   AND "group" = ''
 ORDER BY priority, seq
 LIMIT :room;


-- name: claim_rows
-- doing: find waiting jobs
-- The same, whole.
SELECT {job.columns}
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type = iif(EXISTS (SELECT 1
                            FROM workflow_registry
                           WHERE workflow_name = :type
                             AND (is_enabled = 0 OR runtime <> :runtime))
                  OR EXISTS (SELECT 1 FROM workflow_group_type WHERE type = :type)
                  OR EXISTS (SELECT 1
                               FROM workflow_limit
                              WHERE types = :type
                                 OR (substr(types, -1) = '%'
                                     AND substr(:type, 1, length(types) - 1)
                                         = substr(types, 1, length(types) - 1))),
                  NULL, :type)
   AND "group" = ''
 ORDER BY priority, seq
 LIMIT :room;


-- name: next_type
-- doing: find waiting types
-- The first type in a range that has something to claim.
--
--   :from   this type or a greater one
--   :below  but less than this; a BLOB is greater than every text
--
-- One row, the type; or none.  One probe of idx_workflow_run_claim.
SELECT type
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type >= :from
   AND type < :below
 ORDER BY type
 LIMIT 1;


-- name: lease_jobs
-- doing: lease jobs
-- Gives jobs whose numbers follow each other to a worker.
--
--   :seq       of the first
--   :last_seq  of the last
--   :event_id  the last one of the events of the first
--   :each      how many events each has of it
UPDATE workflow_run
   SET status      = :status,
       is_ready    = :is_ready,
       leased_by   = :leased_by,
       lease_until = :lease_until,
       lease_token = :lease_token,
       is_counted  = :is_counted,
       updated_at  = :updated_at,
       last_event  = iif(:each, :event_id + (seq - :seq) * :each, last_event),
       event_count = min(event_count + :each, 2147483647)
 WHERE seq BETWEEN :seq AND :last_seq;


-- name: read_job
-- doing: read a waiting job
-- A job, whole, by its number.
--
--   :id  its seq
--
-- One row or none.
SELECT {job.columns}
  FROM workflow_run
 WHERE seq = :id;


-- name: find_claimed
-- doing: find what a claim took
-- The jobs that one claim holds, in its order, whole.
--
--   :worker, :token  of the claim
--   :room            how many at most
--
-- Walks idx_workflow_run_leased, which is as long as there are leases.
SELECT {job.columns}
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_token = :token
   AND leased_by = :worker
 ORDER BY priority, seq
 LIMIT :room;


-- name: get_job
-- doing: read a job
-- A job, whole, deleted or not.
--
--   :id  which
--
-- One row or none.
SELECT {job.columns}
  FROM workflow_run
 WHERE id = :id;


-- name: is_ended
-- doing: look for ends
-- Whether a job or an instance has ended; what is not there has.
--
--   :id  which
--
-- One row: 0 or 1.
SELECT NOT EXISTS (SELECT 1 FROM workflow_run
                    WHERE id = :id AND (status = 'pending' OR status = 'leased'))
   AND NOT EXISTS (SELECT 1 FROM workflow_instance
                    WHERE id = :id AND status NOT IN ('completed', 'failed', 'cancelled', 'aborted'));


-- name: count_few_pending
-- doing: count jobs
-- How many jobs are pending, counted no further than :room.
SELECT count(*)
  FROM (SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
         UNION ALL
        SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_scheduled
         WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
         LIMIT :room);


-- name: count_jobs
-- How much waits and runs.
--
--   :now  microseconds since 1970
--
-- One row: pending, ready, leased, the earliest run_at among the ready (NULL: none).  Reads
-- indexes alone.
SELECT waiting.pending + (SELECT count(*)
                            FROM workflow_run INDEXED BY idx_workflow_run_scheduled
                           WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL),
       waiting.ready,
       (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'),
       waiting.oldest
  FROM (SELECT count(*) AS pending,
               count(*) FILTER (WHERE run_at <= :now) AS ready,
               min(run_at) FILTER (WHERE run_at <= :now) AS oldest
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL) AS waiting;
