-- name: limit_time
-- doing: limit the time of a question
-- A statement of this transaction that takes longer is cancelled.
--
--   $1  such as '2000ms'
SELECT set_config('statement_timeout', $1, true)


-- name: plan_by_values
-- doing: prepare a list
-- Statements of this transaction are planned with their values.  A plan for any range of seq expects that the range is small, so
-- it reads all of it and sorts.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true)


-- name: walk_instances
-- doing: list instances
-- Numbers of instances, falling.
--
--   $1, $2  $1 <= seq < $2
--   $3      how many at most
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.seq >= $1::bigint AND i.seq < $2::bigint
 ORDER BY i.seq DESC
 LIMIT $3::bigint


-- name: walk_instances_by_status
-- doing: list instances
-- As walk_instances, of one status; walks its index.
--
--   $4  status
--
-- The first column of an index is compared by ANY, here and below: by = an order by seq alone would do, and of a status that few have
-- the whole table would be walked as long as it was not vacuumed.  After plan_by_values, as everything that has a range of seq beside it.
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.status = ANY (ARRAY[$4::text])
   AND i.seq >= $1::bigint AND i.seq < $2::bigint
 ORDER BY i.status DESC, i.seq DESC
 LIMIT $3::bigint


-- name: walk_instances_by_workflow
-- doing: list instances
-- As walk_instances, of one workflow and status; walks their index.
--
--   $4, $5  status, workflow
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.workflow = ANY (ARRAY[$5::text])
   AND i.status = $4::text
   AND i.seq >= $1::bigint AND i.seq < $2::bigint
 ORDER BY i.workflow DESC, i.status DESC, i.seq DESC
 LIMIT $3::bigint


-- name: walk_children
-- doing: list children
-- Numbers of the children of an instance, falling; walks idx_workflow_instance_parent.
--
--   $1, $2  $1 <= seq < $2
--   $3      how many at most
--   $4      whose
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.parent = ANY (ARRAY[$4::uuid])
   AND i.seq >= $1::bigint AND i.seq < $2::bigint
 ORDER BY i.parent DESC, i.seq DESC
 LIMIT $3::bigint


-- name: walk_tagged
-- doing: list by tag
-- Numbers of jobs or instances that have a tag, falling.
--
--   $1, $2      $1 <= seq < $2
--   $3          how many at most
--   $4, $5, $6  name, value, kind
--
-- Walks the primary key.
SELECT t.seq
  FROM workflow.workflow_tag AS t
 WHERE t.name = $4::text
   AND t.value = $5::text
   AND t.kind = $6::text
   AND t.seq >= $1::bigint AND t.seq < $2::bigint
 ORDER BY t.name DESC, t.value DESC, t.kind DESC, t.seq DESC
 LIMIT $3::bigint


-- name: walk_jobs
-- doing: list jobs
-- Numbers of jobs, falling, deleted ones too.
--
--   $1, $2  $1 <= seq < $2
--   $3      how many at most
SELECT o.seq
  FROM workflow.workflow_run_order AS o
 WHERE o.seq >= $1::bigint AND o.seq < $2::bigint
 ORDER BY o.seq DESC
 LIMIT $3::bigint


-- name: walk_unsuccessful_jobs
-- doing: list jobs
-- As walk_jobs, of status failed or cancelled; walks their index.
--
--   $4  status
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.status IN ('failed', 'cancelled')
   AND r.status = $4::text
   AND r.deleted_at IS NULL
   AND r.seq >= $1::bigint AND r.seq < $2::bigint
 ORDER BY r.status DESC, r.seq DESC
 LIMIT $3::bigint


-- name: walk_leased_jobs
-- doing: list jobs
-- As walk_jobs, of those that are leased.
--
-- Sorts what is leased; the history is not read.
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
   AND r.status = 'leased'
   AND r.seq >= $1::bigint AND r.seq < $2::bigint
 ORDER BY r.seq DESC
 LIMIT $3::bigint


-- name: walk_few_pending_jobs
-- doing: list jobs
-- As walk_jobs, of those that are pending, when there are few of them.
--
-- Sorts what is pending.  With a long backlog walk_jobs is faster, since it finds pending jobs wherever it
-- looks; after it, it would walk past everything that is done.
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.status = 'pending' AND r.deleted_at IS NULL
   AND r.seq >= $1::bigint AND r.seq < $2::bigint
 ORDER BY r.seq DESC
 LIMIT $3::bigint


-- name: count_few_pending
-- doing: list jobs
-- How many jobs are pending, counted up to a limit.
--
--   $1  the limit
SELECT count(*)
  FROM (SELECT
          FROM workflow.workflow_run AS r
         WHERE r.status = 'pending' AND r.deleted_at IS NULL
         LIMIT $1::bigint) AS waiting


-- name: find_instance_seqs
-- doing: find instances
-- Numbers of the instances with these ids.
--
--   $1  the ids
--   $2  how many at most
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY ($1::uuid[])
 LIMIT $2::bigint


-- name: find_job_seqs
-- doing: find jobs
-- The same for jobs.
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.id = ANY ($1::uuid[])
 LIMIT $2::bigint


-- name: find_instance_ids
-- doing: find instances
-- Numbers of the instances whose ids are in a range, the greatest first: those are the newest.
--
--   $1, $2  both included
--   $3      how many at most
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.id >= $1::uuid AND i.id <= $2::uuid
 ORDER BY i.id DESC
 LIMIT $3::bigint


-- name: find_job_ids
-- doing: find jobs
-- The same for jobs.
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.id >= $1::uuid AND r.id <= $2::uuid
 ORDER BY r.id DESC
 LIMIT $3::bigint


-- name: find_instance_ends
-- doing: find instances
-- Numbers of those of the newest instances whose ids end so.  Walks the index of numbers backwards.  Ids are compared as
-- bytes: to write them as text would take most of the time.
--
--   $1  8 characters
--   $2  how many are looked at
--   $3  how many at most
SELECT n.seq
  FROM (SELECT i.seq, i.id FROM workflow.workflow_instance AS i ORDER BY i.seq DESC LIMIT $2::bigint) AS n
 WHERE substring(uuid_send(n.id) FROM 13) = decode($1::text, 'hex')
 LIMIT $3::bigint


-- name: find_job_ends
-- doing: find jobs
-- The same for jobs, whose numbers and ids have a table of their own.
SELECT n.seq
  FROM (SELECT o.seq, o.id FROM workflow.workflow_run_order AS o ORDER BY o.seq DESC LIMIT $2::bigint) AS n
 WHERE substring(uuid_send(n.id) FROM 13) = decode($1::text, 'hex')
 LIMIT $3::bigint


-- name: find_instance_keys
-- doing: find instances
-- Numbers of the instances whose keys are in a range.
--
--   $1, $2  the last one is not included
--   $3      how many at most
SELECT i.seq
  FROM workflow.workflow_instance AS i
 WHERE i.key >= $1::text AND i.key < $2::text
   AND i.key IS NOT NULL
 ORDER BY i.key
 LIMIT $3::bigint


-- name: find_job_keys
-- doing: find jobs
-- The same for jobs.
SELECT r.seq
  FROM workflow.workflow_run AS r
 WHERE r.idempotency_key >= $1::text AND r.idempotency_key < $2::text
 ORDER BY r.idempotency_key
 LIMIT $3::bigint


-- name: count_instances_by_status
-- doing: count instances
-- How many instances have each of these statuses; walks their index.
--
--   $1  the statuses
--   $2  how far to count each
--
-- Rows (status, count).  BETWEEN is for the reason that walk_instances_by_status has for ANY, by which the planner would expect so many
-- here that it would compile the plan.
SELECT s.status,
       (SELECT count(*)
          FROM (SELECT
                  FROM workflow.workflow_instance AS i
                 WHERE i.status BETWEEN s.status AND s.status
                 ORDER BY i.status DESC, i.seq DESC
                 LIMIT $2::bigint) AS few)
  FROM unnest($1::text[]) AS s (status)


-- name: count_instances_by_workflow
-- doing: count instances
-- As count_instances_by_status, of one workflow; walks the index of both.
--
--   $3  workflow
SELECT s.status,
       (SELECT count(*)
          FROM (SELECT
                  FROM workflow.workflow_instance AS i
                 WHERE i.workflow = ANY (ARRAY[$3::text])
                   AND i.status BETWEEN s.status AND s.status
                 ORDER BY i.workflow DESC, i.status DESC, i.seq DESC
                 LIMIT $2::bigint) AS few)
  FROM unnest($1::text[]) AS s (status)


-- name: count_jobs_by_status
-- doing: count jobs
-- How many jobs have each of these statuses, which is not succeeded; walks the indexes of what is
-- pending and of what has failed or was cancelled, and reads what is leased.
--
--   $1, $2  as in count_instances_by_status
SELECT s.status,
       CASE s.status
       WHEN 'pending' THEN
            (SELECT count(*)
               FROM (SELECT
                       FROM workflow.workflow_run AS r
                      WHERE r.status = 'pending' AND r.deleted_at IS NULL
                      LIMIT $2::bigint) AS few)
       WHEN 'leased' THEN
            (SELECT count(*)
               FROM (SELECT
                       FROM workflow.workflow_run AS r
                      WHERE r.id = ANY (ARRAY(SELECT unnest(l.ids) FROM workflow.workflow_run_lease AS l))
                        AND r.status = 'leased'
                      LIMIT $2::bigint) AS few)
       ELSE (SELECT count(*)
               FROM (SELECT
                       FROM workflow.workflow_run AS r
                      WHERE r.status IN ('failed', 'cancelled')
                        AND r.status = s.status
                        AND r.deleted_at IS NULL
                      ORDER BY r.status DESC, r.seq DESC
                      LIMIT $2::bigint) AS few)
       END
  FROM unnest($1::text[]) AS s (status)


-- part: instance_matches
-- Whether an instance is one of those that a filter wants, as far as its row says so.
--
--   $4, $5  when it was created, at the earliest and at the latest; null: at any time
--   $6      its version; null: any
--   $7      1: only if it has no parent
($4::timestamptz IS NULL OR @created_at >= $4::timestamptz)
AND ($5::timestamptz IS NULL OR @created_at <= $5::timestamptz)
AND ($6::int IS NULL OR @version = $6::int)
AND ($7::bigint = 0 OR @parent IS NULL)


-- part: stand
-- Where an instance stands, as spec/words.txt has it; null: it is neither running nor waits for a signal.  A function that
-- only sleeps says so itself; of others the open steps are looked at, by idx_workflow_step_current.
CASE
WHEN @status = 'waiting_signal' THEN 'waiting'
WHEN @status <> 'running' THEN NULL
WHEN @is_function AND @sleep_count > 0 AND @active_count = 0 THEN 'sleeping'
ELSE (SELECT CASE
             WHEN bool_or(s.locked_until <= $8::timestamptz) THEN 'lost'
             WHEN bool_or(s.locked_by IS NOT NULL) THEN 'running'
             WHEN bool_or(s.status = 'ready' AND NOT s.is_held AND s.next_run_at <= $8::timestamptz) THEN 'running'
             WHEN bool_or(s.status = 'ready' AND NOT s.is_held AND s.attempts > 0) THEN 'retrying'
             WHEN bool_or(s.status = 'waiting' AND s.kind = 'sleep') THEN 'sleeping'
             WHEN bool_or(s.status IN ('waiting', 'waiting_decision') AND s.kind <> 'function') THEN 'waiting'
             ELSE 'running' END
        FROM workflow.workflow_step AS s
       WHERE s.instance_id = @id
         AND (s.status IN ('ready', 'running', 'waiting', 'waiting_decision', 'paused', 'compensation')
              OR s.locked_by IS NOT NULL OR s.is_held))
END


-- part: job_matches
-- The same of a job.
--
--   $4, $5  as in instance_matches
--   $6, $7  exact type, prefix; null: any
--   $8, $9  now; 1: only what is pending and due, 0: pending and not due, null: any
@deleted_at IS NULL
AND ($4::timestamptz IS NULL OR @created_at >= $4::timestamptz)
AND ($5::timestamptz IS NULL OR @created_at <= $5::timestamptz)
AND ($6::text IS NULL OR @type = $6::text)
AND ($7::text IS NULL OR starts_with(@type, $7::text))
AND ($9::int IS NULL OR (@status = 'pending' AND (@run_at <= $8::timestamptz) = ($9::int = 1)))


-- name: scan_instances
-- doing: count instances
-- Of the newest instances, how many of each status match, and how many were looked at.  Walks the index of
-- numbers.
--
--   $1, $2  $1 <= seq < $2
--   $3      how many are looked at
--   $4..$7  as in instance_matches
SELECT n.status, count(*) FILTER (WHERE n.matches), count(*)
  FROM (SELECT i.status,
               {instance_matches i} AS matches
          FROM workflow.workflow_instance AS i
         WHERE i.seq >= $1::bigint AND i.seq < $2::bigint
         ORDER BY i.seq DESC
         LIMIT $3::bigint) AS n
 GROUP BY n.status


-- name: scan_instances_by_workflow
-- doing: count instances
-- As scan_instances, of one workflow and status; walks their index.
--
--   $8, $9  workflow, status
SELECT n.status, count(*) FILTER (WHERE n.matches), count(*)
  FROM (SELECT i.status,
               {instance_matches i} AS matches
          FROM workflow.workflow_instance AS i
         WHERE i.workflow = ANY (ARRAY[$8::text])
           AND i.status = $9::text
           AND i.seq >= $1::bigint AND i.seq < $2::bigint
         ORDER BY i.workflow DESC, i.status DESC, i.seq DESC
         LIMIT $3::bigint) AS n
 GROUP BY n.status


-- name: count_stands
-- doing: count instances
-- As scan_instances_by_workflow, but of each stand.
--
--   $8       now
--   $9, $10  workflow, status
SELECT n.stand, count(*) FILTER (WHERE n.matches), count(*)
  FROM (SELECT {stand i} AS stand,
               {instance_matches i} AS matches
          FROM (SELECT w.id, w.status, w.is_function, w.sleep_count, w.active_count, w.created_at, w.version, w.parent
                  FROM workflow.workflow_instance AS w
                 WHERE w.workflow = ANY (ARRAY[$9::text])
                   AND w.status = $10::text
                   AND w.seq >= $1::bigint AND w.seq < $2::bigint
                 ORDER BY w.workflow DESC, w.status DESC, w.seq DESC
                 LIMIT $3::bigint) AS i) AS n
 GROUP BY n.stand


-- name: scan_tagged_instances
-- doing: count instances
-- As scan_instances, of those that have a tag; walks the primary key of tags.
--
--   $8, $9  name, value
SELECT i.status,
       count(*) FILTER (WHERE {instance_matches i}),
       count(*)
  FROM (SELECT t.seq
          FROM workflow.workflow_tag AS t
         WHERE t.name = $8::text
           AND t.value = $9::text
           AND t.kind = 'instance'
           AND t.seq >= $1::bigint AND t.seq < $2::bigint
         ORDER BY t.name DESC, t.value DESC, t.kind DESC, t.seq DESC
         LIMIT $3::bigint) AS n
  JOIN workflow.workflow_instance AS i ON i.seq = n.seq
 GROUP BY i.status


-- name: scan_jobs
-- doing: count jobs
-- Of the newest jobs, how many of each status match and are not deleted, and how many were looked at.
--
--   $1..$3  as in scan_instances
--   $4..$9  as in job_matches
SELECT r.status,
       count(*) FILTER (WHERE {job_matches r}),
       count(*)
  FROM (SELECT o.id
          FROM workflow.workflow_run_order AS o
         WHERE o.seq >= $1::bigint AND o.seq < $2::bigint
         ORDER BY o.seq DESC
         LIMIT $3::bigint) AS n
 CROSS JOIN LATERAL (
       SELECT one.status, one.deleted_at, one.created_at, one.type, one.run_at
         FROM workflow.workflow_run AS one
        WHERE one.id = n.id
        LIMIT 1) AS r
 GROUP BY r.status


-- name: scan_pending_jobs
-- doing: count jobs
-- As scan_jobs, of those that are pending, in any order; walks an index of what is pending.
SELECT r.status,
       count(*) FILTER (WHERE {job_matches r}),
       count(*)
  FROM (SELECT p.status, p.deleted_at, p.created_at, p.type, p.run_at
          FROM workflow.workflow_run AS p
         WHERE p.status = 'pending' AND p.deleted_at IS NULL
           AND p.seq >= $1::bigint AND p.seq < $2::bigint
         LIMIT $3::bigint) AS r
 GROUP BY r.status


-- name: scan_tagged_jobs
-- doing: count jobs
-- As scan_jobs, of those that have a tag; walks the primary key of tags.
--
--   $10, $11  name, value
SELECT r.status,
       count(*) FILTER (WHERE {job_matches r}),
       count(*)
  FROM (SELECT t.seq
          FROM workflow.workflow_tag AS t
         WHERE t.name = $10::text
           AND t.value = $11::text
           AND t.kind = 'job'
           AND t.seq >= $1::bigint AND t.seq < $2::bigint
         ORDER BY t.name DESC, t.value DESC, t.kind DESC, t.seq DESC
         LIMIT $3::bigint) AS n
  JOIN workflow.workflow_run_order AS o ON o.seq = n.seq
 CROSS JOIN LATERAL (
       SELECT one.status, one.deleted_at, one.created_at, one.type, one.run_at
         FROM workflow.workflow_run AS one
        WHERE one.id = o.id
        LIMIT 1) AS r
 GROUP BY r.status


-- name: scan_job_errors
-- doing: list errors
-- Errors of jobs that have failed, newest first; walks their index.
--
--   $1  only numbers below this one
--   $2  how many at most
SELECT r.seq, r.id::text, NULL, r.type, NULL, NULL, r.last_error, NULL, r.updated_at
  FROM workflow.workflow_run AS r
 WHERE r.status IN ('failed', 'cancelled')
   AND r.status = 'failed'
   AND r.deleted_at IS NULL
   AND r.seq < $1::bigint
 ORDER BY r.status DESC, r.seq DESC
 LIMIT $2::bigint


-- name: scan_instance_errors
-- doing: list errors
-- The same of instances.  A status that is compared for being equal would leave the planner the index of numbers, in
-- which it would look for failed ones among all others.
SELECT i.seq, i.id::text, i.workflow, NULL, NULL, NULL, i.last_error::text, i.undo_error::text, i.finished_at
  FROM workflow.workflow_instance AS i
 WHERE (i.status, i.seq) < ('failed', $1::bigint)
   AND i.status >= 'failed'
 ORDER BY i.status DESC, i.seq DESC
 LIMIT $2::bigint


-- name: scan_workflow_errors
-- doing: list errors
-- The same of the instances of a workflow.
--
--   $3  which
SELECT i.seq, i.id::text, i.workflow, NULL, NULL, NULL, i.last_error::text, i.undo_error::text, i.finished_at
  FROM workflow.workflow_instance AS i
 WHERE i.workflow = $3::text
   AND i.status = 'failed'
   AND i.seq < $1::bigint
 ORDER BY i.workflow DESC, i.status DESC, i.seq DESC
 LIMIT $2::bigint


-- name: scan_record_errors
-- doing: list errors
-- The same of open records of the dead letter queue.
SELECT q.id, NULL, q.workflow, q.step_type, q.step_name, q.reason, q.error, NULL, q.created_at
  FROM workflow.workflow_dlq AS q
 WHERE q.is_open
   AND q.id < $1::bigint
 ORDER BY q.id DESC
 LIMIT $2::bigint


-- name: find_instance_created
-- doing: list instances
-- The first instance with this number or more, and when it was created.
--
--   $1  the number
SELECT i.seq, i.created_at
  FROM workflow.workflow_instance AS i
 WHERE i.seq >= $1::bigint
 ORDER BY i.seq
 LIMIT 1


-- name: find_job_created
-- doing: list jobs
-- The same for jobs.
SELECT o.seq, r.created_at
  FROM workflow.workflow_run_order AS o
 CROSS JOIN LATERAL (
       SELECT one.created_at FROM workflow.workflow_run AS one WHERE one.id = o.id LIMIT 1) AS r
 WHERE o.seq >= $1::bigint
 ORDER BY o.seq
 LIMIT 1


-- name: pick_instances
-- doing: list instances
-- The instances with these numbers that match, newest first.
--
--   $1       the numbers
--   $2       how many at most
--   $3       1: the input is cut, and output and metadata are left out
--   $4..$7   as in instance_matches
--   $8, $9   now, and a stand; null: any
--   $10      statuses, such as ",failed,dlq,"; null: any
--   $11      a text in the input or the last error; null: any
--   $12      workflow; null: any
SELECT {instance.columns i but metadata input output},
       CASE WHEN $3::bigint = 0 THEN i.metadata::text END,
       CASE WHEN $3::bigint = 0 THEN i.input::text ELSE left(i.input::text, 120) END,
       CASE WHEN $3::bigint = 0 THEN i.output::text END,
       CASE WHEN $3::bigint = 1 THEN octet_length(i.input::text) END,
       CASE WHEN $3::bigint = 1 THEN octet_length(i.output::text) END
  FROM workflow.workflow_instance AS i
 WHERE i.seq = ANY ($1::bigint[])
   AND {instance_matches i}
   AND ($10::text IS NULL OR strpos($10::text, ',' || i.status || ',') > 0)
   AND ($12::text IS NULL OR i.workflow = $12::text)
   AND ($11::text IS NULL OR strpos(i.input::text, $11::text) > 0
        OR strpos(i.last_error::text, $11::text) > 0)
   AND ($9::text IS NULL
        OR {stand i} = $9::text)
 ORDER BY i.seq DESC
 LIMIT $2::bigint


-- name: pick_jobs
-- doing: list jobs
-- The jobs with these numbers that match, newest first, deleted ones left out.
--
--   $1..$3    as in pick_instances, of payload, result and metadata
--   $4..$9    as in job_matches
--   $10, $11  as in pick_instances
SELECT {job.columns r but payload metadata result},
       CASE WHEN $3::bigint = 0 THEN r.payload::text ELSE left(r.payload::text, 120) END,
       CASE WHEN $3::bigint = 0 THEN r.metadata::text END,
       CASE WHEN $3::bigint = 0 THEN r.result::text END,
       CASE WHEN $3::bigint = 1 THEN octet_length(r.payload::text) END,
       CASE WHEN $3::bigint = 1 THEN octet_length(r.result::text) END
  FROM workflow.workflow_run_order AS o
 CROSS JOIN LATERAL (
       SELECT one.* FROM workflow.workflow_run AS one WHERE one.id = o.id LIMIT 1) AS r
 WHERE o.seq = ANY ($1::bigint[])
   AND {job_matches r}
   AND ($10::text IS NULL OR strpos($10::text, ',' || r.status || ',') > 0)
   AND ($11::text IS NULL OR strpos(r.payload::text, $11::text) > 0
        OR strpos(r.last_error, $11::text) > 0)
 ORDER BY o.seq DESC
 LIMIT $2::bigint
