-- name: walk_instances
-- doing: list instances
-- Numbers of instances, falling.
--
--   :from, :before  from <= seq < before
--   :room           how many at most
SELECT seq
  FROM workflow_instance
 WHERE seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_instances_by_status
-- doing: list instances
-- As walk_instances, of one status, which is not completed.
--
--   :status  which
SELECT seq
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status <> 'completed'
   AND status = :status
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_instances_by_workflow
-- doing: list instances
-- As walk_instances, of one workflow and status.
--
--   :workflow, :status  which
SELECT seq
  FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
 WHERE workflow = :workflow
   AND status = :status
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_children
-- doing: list children
-- Numbers of the children of an instance, falling.
--
--   :parent         whose
--   :from, :before  from <= seq < before
--   :room           how many at most
SELECT seq
  FROM workflow_instance INDEXED BY idx_workflow_instance_parent
 WHERE parent = :parent
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_tagged
-- doing: list by tag
-- Numbers of jobs or instances that have a tag, falling.
--
--   :name, :value, :kind  which
--   :from, :before        from <= seq < before
--   :room                 how many at most
--
-- Walks the primary key.
SELECT seq
  FROM workflow_tag
 WHERE name = :name
   AND value = :value
   AND kind = :kind
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_jobs
-- doing: list jobs
-- Numbers of jobs, falling, deleted ones too.
--
--   :from, :before  from <= seq < before
--   :room           how many at most
SELECT seq
  FROM workflow_run
 WHERE seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_unsuccessful_jobs
-- doing: list jobs
-- As walk_jobs, of status failed or cancelled.
--
--   :status  which
SELECT seq
  FROM workflow_run INDEXED BY idx_workflow_run_unsuccessful
 WHERE status IN ('failed', 'cancelled')
   AND status = :status
   AND deleted_at IS NULL
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_leased_jobs
-- doing: list jobs
-- As walk_jobs, of status leased.
--
-- Sorts idx_workflow_run_leased, which is as long as there are leases.
SELECT seq
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: walk_few_pending_jobs
-- doing: list jobs
-- As walk_jobs, of status pending, when there are few of them.
--
-- Sorts both indexes of what is pending.  With a long backlog walk_jobs is faster, since it
-- finds pending jobs wherever it looks; after it, it would walk past everything that is done.
SELECT seq
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND seq >= :from AND seq < :before
 UNION ALL
SELECT seq
  FROM workflow_run INDEXED BY idx_workflow_run_scheduled
 WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: find_job_seq
-- doing: find a job
-- A job's number.
--
--   :id  which
SELECT seq
  FROM workflow_run
 WHERE id = :id;


-- name: find_instance_ids
-- doing: find instances
-- Numbers of the instances whose ids are in a range, the greatest first: those are the newest.
--
--   :first, :last  both included
--   :room          how many at most
SELECT seq
  FROM workflow_instance
 WHERE id >= :first AND id <= :last
 ORDER BY id DESC
 LIMIT :room;


-- name: find_job_ids
-- doing: find jobs
-- The same for jobs.
SELECT seq
  FROM workflow_run
 WHERE id >= :first AND id <= :last
 ORDER BY id DESC
 LIMIT :room;


-- name: list_instance_ids
-- doing: find instances
-- Numbers and ids of the newest instances.  Walks the index of ids backwards, which is a tenth of the table: ids begin with
-- the time.
--
--   :room  how many
SELECT seq, id
  FROM workflow_instance
 ORDER BY id DESC
 LIMIT :room;


-- name: list_job_ids
-- doing: find jobs
-- The same for jobs.
SELECT seq, id
  FROM workflow_run
 ORDER BY id DESC
 LIMIT :room;


-- name: find_instance_keys
-- doing: find instances
-- Numbers of the instances whose keys are in a range.
--
--   :first, :last  the last one is not included
--   :room          how many at most
SELECT seq
  FROM workflow_instance INDEXED BY idx_workflow_instance_key
 WHERE key >= :first AND key < :last
   AND key IS NOT NULL
 LIMIT :room;


-- name: find_job_keys
-- doing: find jobs
-- The same for jobs.
SELECT seq
  FROM workflow_run INDEXED BY idx_workflow_run_idempotency
 WHERE idempotency_key >= :first AND idempotency_key < :last
 LIMIT :room;


-- name: count_instances_by_status
-- doing: count instances
-- How many instances have a status, which is not completed.
--
--   :status  which
--   :room    how far to count
SELECT count(*)
  FROM (SELECT 1
          FROM workflow_instance INDEXED BY idx_workflow_instance_status
         WHERE status <> 'completed'
           AND status = :status
         LIMIT :room);


-- name: count_completed_instances
-- doing: count instances
-- How many instances have completed.  No index has them in one place, but that of workflows has them in one place for each:
-- it is walked from workflow to workflow.
--
--   :room  how far to count
WITH RECURSIVE names (name) AS (
    SELECT min(workflow) FROM workflow_instance
     UNION ALL
    SELECT (SELECT min(i.workflow) FROM workflow_instance AS i WHERE i.workflow > names.name)
      FROM names
     WHERE name IS NOT NULL)
SELECT count(*)
  FROM (SELECT 1
          FROM names
         CROSS JOIN workflow_instance AS i INDEXED BY idx_workflow_instance_workflow
         WHERE i.workflow = names.name
           AND i.status = 'completed'
         LIMIT :room);


-- name: count_instances_by_workflow
-- doing: count instances
-- How many instances of a workflow have a status.
--
--   :workflow, :status  which
--   :room               how far to count
SELECT count(*)
  FROM (SELECT 1
          FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
         WHERE workflow = :workflow
           AND status = :status
         LIMIT :room);


-- name: count_unsuccessful_jobs
-- doing: count jobs
-- How many jobs have failed, or were cancelled.
--
--   :status  which of the two
--   :room    how far to count
SELECT count(*)
  FROM (SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_unsuccessful
         WHERE status IN ('failed', 'cancelled')
           AND status = :status
           AND deleted_at IS NULL
         LIMIT :room);


-- name: count_jobs_leased
-- doing: count jobs
-- How many jobs are leased.
--
--   :room  how far to count
SELECT count(*)
  FROM (SELECT 1
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'
         LIMIT :room);


-- part: instance_matches
-- Whether an instance is one of those that a filter wants, as far as its row says so.
--
--   :version                    NULL: any
--   :created_from, :created_to  NULL: at any time
--   :is_root                    1: only if it has no parent; NULL: any
(:version IS NULL OR @version = :version)
AND (:created_from IS NULL OR @created_at >= :created_from)
AND (:created_to IS NULL OR @created_at <= :created_to)
AND (:is_root IS NULL OR @parent IS NULL)


-- part: stand
-- Where an instance stands, as spec/words.txt has it; NULL: it is neither running nor waits for a signal.  A function that
-- only sleeps says so itself; of others the open steps are looked at, by idx_workflow_step_current.
CASE
WHEN @status = 'waiting_signal' THEN 'waiting'
WHEN @status <> 'running' THEN NULL
WHEN @is_function AND @sleep_count > 0 AND @active_count = 0 THEN 'sleeping'
ELSE (SELECT CASE
             WHEN max(s.locked_until <= :now) THEN 'lost'
             WHEN max(s.locked_by IS NOT NULL) THEN 'running'
             WHEN max(s.status = 'ready' AND s.is_held = 0 AND s.next_run_at <= :now) THEN 'running'
             WHEN max(s.status = 'ready' AND s.is_held = 0 AND s.attempts > 0) THEN 'retrying'
             WHEN max(s.status = 'waiting' AND s.kind = 'sleep') THEN 'sleeping'
             WHEN max(s.status IN ('waiting', 'waiting_decision') AND s.kind <> 'function') THEN 'waiting'
             ELSE 'running' END
        FROM workflow_step AS s INDEXED BY idx_workflow_step_current
       WHERE s.is_current = 1
         AND s.instance_seq = @seq)
END


-- part: job_matches
-- The same of a job.
--
--   :from, :below               the range of types, as in next_type
--   :is_due                     1: only if it is pending and due, 0: pending and not due; NULL: any
--   :created_from, :created_to  NULL: at any time
@type >= :from AND @type < :below
AND (:is_due IS NULL OR (@status = 'pending' AND (@run_at <= :now) = :is_due))
AND (:created_from IS NULL OR @created_at >= :created_from)
AND (:created_to IS NULL OR @created_at <= :created_to)


-- name: scan_instances
-- doing: count instances
-- The statuses of instances, newest first, and whether each matches.
--
--   :from, :before  from <= seq < before
--   :room           how many are looked at
--   others          as in instance_matches
SELECT status,
       {instance_matches}
  FROM workflow_instance
 WHERE seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: scan_instances_by_workflow
-- doing: count instances
-- As scan_instances, of one workflow and status.
--
--   :workflow, :status  which
SELECT status,
       {instance_matches}
  FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
 WHERE workflow = :workflow
   AND status = :status
   AND seq >= :from AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: count_stands
-- doing: count instances
-- As scan_instances_by_workflow, but where each stands in place of its status.
SELECT {stand i},
       {instance_matches i}
  FROM workflow_instance AS i INDEXED BY idx_workflow_instance_workflow
 WHERE i.workflow = :workflow
   AND i.status = :status
   AND i.seq >= :from AND i.seq < :before
 ORDER BY i.seq DESC
 LIMIT :room;


-- name: scan_tagged_instances
-- doing: count instances
-- As scan_instances, of those that have a tag; walks the primary key of tags.
--
--   :name, :value  which tag
SELECT i.status,
       {instance_matches i}
  FROM workflow_tag AS t
 CROSS JOIN workflow_instance AS i ON i.seq = t.seq
 WHERE t.name = :name
   AND t.value = :value
   AND t.kind = 'instance'
   AND t.seq >= :from AND t.seq < :before
 ORDER BY t.seq DESC
 LIMIT :room;


-- name: scan_jobs
-- doing: count jobs
-- The statuses of jobs, newest first, and whether each matches and is not deleted.
--
--   :from_seq, :before_seq  from <= seq < before
--   :room                   how many are looked at
--   others                  as in job_matches
SELECT status,
       deleted_at IS NULL
       AND {job_matches}
  FROM workflow_run
 WHERE seq >= :from_seq AND seq < :before_seq
 ORDER BY seq DESC
 LIMIT :room;


-- name: scan_pending_jobs
-- doing: count jobs
-- As scan_jobs, of those that are pending, in any order; walks both indexes of what is pending.
SELECT status,
       {job_matches}
  FROM (SELECT 'pending' AS status, type, run_at, CASE WHEN :is_timed THEN created_at END AS created_at
          FROM workflow_run INDEXED BY idx_workflow_run_claim
         WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
           AND seq >= :from_seq AND seq < :before_seq
         UNION ALL
        SELECT 'pending', type, run_at, CASE WHEN :is_timed THEN created_at END
          FROM workflow_run INDEXED BY idx_workflow_run_scheduled
         WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL
           AND seq >= :from_seq AND seq < :before_seq)
 LIMIT :room;


-- name: scan_tagged_jobs
-- doing: count jobs
-- As scan_jobs, of those that have a tag; walks the primary key of tags.
--
--   :name, :value  which tag
SELECT r.status,
       r.deleted_at IS NULL
       AND {job_matches r}
  FROM workflow_tag AS t
 CROSS JOIN workflow_run AS r ON r.seq = t.seq
 WHERE t.name = :name
   AND t.value = :value
   AND t.kind = 'job'
   AND t.seq >= :from_seq AND t.seq < :before_seq
 ORDER BY t.seq DESC
 LIMIT :room;


-- name: scan_job_errors
-- doing: list errors
-- Errors of jobs that have failed, newest first.
--
--   :before  only numbers below this one
--   :room    how many at most
SELECT seq, id, type, last_error, updated_at
  FROM workflow_run INDEXED BY idx_workflow_run_unsuccessful
 WHERE status IN ('failed', 'cancelled')
   AND status = 'failed'
   AND deleted_at IS NULL
   AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: scan_instance_errors
-- doing: list errors
-- The same of instances.
SELECT seq, id, workflow, last_error, undo_error, finished_at
  FROM workflow_instance INDEXED BY idx_workflow_instance_status
 WHERE status <> 'completed'
   AND status = 'failed'
   AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: scan_workflow_errors
-- doing: list errors
-- The same of the instances of a workflow.
--
--   :workflow  which
SELECT seq, id, workflow, last_error, undo_error, finished_at
  FROM workflow_instance INDEXED BY idx_workflow_instance_workflow
 WHERE workflow = :workflow
   AND status = 'failed'
   AND seq < :before
 ORDER BY seq DESC
 LIMIT :room;


-- name: scan_record_errors
-- doing: list errors
-- The same of open records of the dead letter queue.
SELECT id, workflow, step_type, step_name, reason, error, created_at
  FROM workflow_dlq INDEXED BY idx_workflow_dlq_open
 WHERE is_open = 1
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: find_instance_created
-- doing: list instances
-- The first instance with this number or more, and when it was created.
--
--   :seq  which
SELECT seq, created_at
  FROM workflow_instance
 WHERE seq >= :seq
 ORDER BY seq
 LIMIT 1;


-- name: find_job_created
-- doing: list jobs
-- The same for jobs.
SELECT seq, created_at
  FROM workflow_run
 WHERE seq >= :seq
 ORDER BY seq
 LIMIT 1;


-- name: pick_instance
-- doing: list instances
-- An instance, if it matches.
--
--   :seq               which
--   :is_row            1: the input is cut, and output and metadata are left out
--   :statuses          such as ",failed,dlq,"; NULL: any
--   :workflow, :stand  NULL: any
--   :has               a text in its input or its last error; NULL: any
--   others             as in instance_matches
SELECT {instance.columns but metadata input output},
       CASE WHEN :is_row THEN NULL ELSE metadata END AS metadata,
       CASE WHEN :is_row THEN substr(input, 1, 120) ELSE input END AS input,
       CASE WHEN :is_row THEN NULL ELSE output END AS output,
       length(CAST(CASE WHEN :is_row THEN input END AS BLOB)) AS input_bytes,
       length(CAST(CASE WHEN :is_row THEN output END AS BLOB)) AS output_bytes
  FROM workflow_instance
 WHERE seq = :seq
   AND (:statuses IS NULL OR instr(:statuses, ',' || status || ',') > 0)
   AND (:workflow IS NULL OR workflow = :workflow)
   AND {instance_matches}
   AND (:has IS NULL OR instr(input, :has) > 0 OR instr(last_error, :has) > 0)
   AND (:stand IS NULL
        OR {stand workflow_instance} = :stand);


-- name: pick_job
-- doing: list jobs
-- A job, if it matches.
--
--   :seq           which
--   :is_row        1: the payload is cut, and result and metadata are left out
--   :statuses, :has  as in pick_instance
--   others         as in job_matches
SELECT {job.columns but payload metadata result},
       CASE WHEN :is_row THEN substr(payload, 1, 120) ELSE payload END AS payload,
       CASE WHEN :is_row THEN NULL ELSE metadata END AS metadata,
       CASE WHEN :is_row THEN NULL ELSE result END AS result,
       length(CAST(CASE WHEN :is_row THEN payload END AS BLOB)) AS payload_bytes,
       length(CAST(CASE WHEN :is_row THEN result END AS BLOB)) AS result_bytes
  FROM workflow_run
 WHERE seq = :seq
   AND deleted_at IS NULL
   AND (:statuses IS NULL OR instr(:statuses, ',' || status || ',') > 0)
   AND {job_matches}
   AND (:has IS NULL OR instr(payload, :has) > 0 OR instr(last_error, :has) > 0);
