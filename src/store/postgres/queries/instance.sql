-- name: insert_instances
-- New rows, in the order given, which becomes the order of seq.
--
--   $1..$36  arrays with a value for each row
--
-- Rows whose id or key is there already are left out.  Brings id and seq of those that are new.
INSERT INTO workflow.workflow_instance
       (id, workflow, version, key, input, output, status, generation, last_error, start_at,
        created_at, updated_at, started_at, finished_at, is_dlq, has_compensation, goal,
        is_undo_failed, undo_first, undo_from, undo_to, undo_below, stop_by, stop_reason,
        commits, active_count, wait_count, sleep_count, decision_count, parked_count,
        awaited_count, is_function, revision, places, is_forced, is_woken, undo_error)
SELECT id, workflow, version, key, input, output, status, generation, last_error, start_at,
       created_at, updated_at, started_at, finished_at, coalesce(is_dlq, false),
       coalesce(has_compensation, false), goal, coalesce(is_undo_failed, false), undo_first,
       coalesce(undo_from, 0), coalesce(undo_to, 0), coalesce(undo_below, 0), stop_by,
       stop_reason, commits, active_count, coalesce(wait_count, 0), coalesce(sleep_count, 0),
       coalesce(decision_count, 0), coalesce(parked_count, 0), coalesce(awaited_count, 0),
       coalesce(is_function, false), coalesce(revision, 0), coalesce(places, 0),
       coalesce(is_forced, false), coalesce(is_woken, false), undo_error
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS workflow,
               unnest($3::int[]) AS version, unnest($4::text[]) AS key,
               unnest($5::jsonb[]) AS input, unnest($6::jsonb[]) AS output,
               unnest($7::text[]) AS status, unnest($8::int[]) AS generation,
               unnest($9::jsonb[]) AS last_error, unnest($10::timestamptz[]) AS start_at,
               unnest($11::timestamptz[]) AS created_at,
               unnest($12::timestamptz[]) AS updated_at,
               unnest($13::timestamptz[]) AS started_at,
               unnest($14::timestamptz[]) AS finished_at, unnest($15::boolean[]) AS is_dlq,
               unnest($16::boolean[]) AS has_compensation, unnest($17::text[]) AS goal,
               unnest($18::boolean[]) AS is_undo_failed, unnest($19::int[]) AS undo_first,
               unnest($20::int[]) AS undo_from, unnest($21::int[]) AS undo_to,
               unnest($22::bigint[]) AS undo_below, unnest($23::text[]) AS stop_by,
               unnest($24::text[]) AS stop_reason, unnest($25::bigint[]) AS commits,
               unnest($26::int[]) AS active_count, unnest($27::int[]) AS wait_count,
               unnest($28::int[]) AS sleep_count, unnest($29::int[]) AS decision_count,
               unnest($30::int[]) AS parked_count, unnest($31::int[]) AS awaited_count,
               unnest($32::boolean[]) AS is_function, unnest($33::bigint[]) AS revision,
               unnest($34::int[]) AS places, unnest($35::boolean[]) AS is_forced,
               unnest($36::boolean[]) AS is_woken, unnest($37::jsonb[]) AS undo_error) AS given
ON CONFLICT DO NOTHING
RETURNING id::text, seq


-- name: find_existing_instances
-- doing: find instances by key
-- What stands in the way of rows that could not be inserted.
--
--   $1, $2, $3  their ids, workflows and keys
--
-- Ordinal, seq of this very row if it is there, and id and seq of the instance that has the key.
SELECT given.ordinal, again.seq, other.id::text, other.seq
  FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY
       AS given (id, workflow, key, ordinal)
  LEFT JOIN workflow.workflow_instance AS again ON again.id = given.id
  LEFT JOIN workflow.workflow_instance AS other
         ON other.key = given.key AND other.workflow = given.workflow


-- name: find_instances
-- Which of these rows are there at all, in order of id.
--
--   $1  ids
SELECT i.id::text
  FROM workflow.workflow_instance AS i
 WHERE i.id = ANY ($1::uuid[])
 ORDER BY i.id


-- name: lock_instances
-- Reads and locks rows, in order of id, leaving out those that somebody else
-- holds.
--
--   $1  ids
--
-- The last column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text,
           i.status, i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at,
           i.started_at, i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed,
           i.undo_first, i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason,
           i.commits, i.active_count, i.wait_count, i.sleep_count, i.decision_count,
           i.parked_count, i.awaited_count, i.is_function, i.revision, i.places, i.is_forced,
           i.is_woken, i.undo_error::text
      FROM workflow.workflow_instance AS i
     WHERE i.id = ANY ($1::uuid[])
     ORDER BY i.id
       FOR NO KEY UPDATE SKIP LOCKED
)
SELECT locked.*, clock_timestamp()
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: lock_instances_waiting
-- doing: lock instances
-- Reads and locks rows, in order of id; waits for each up to
-- lock_timeout.
--
--   $1  ids
--
-- The last column is the database's clock after the row was locked: the CTE hands on a row only
-- when it has its lock.
WITH locked AS MATERIALIZED (
    SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text,
           i.status, i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at,
           i.started_at, i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed,
           i.undo_first, i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason,
           i.commits, i.active_count, i.wait_count, i.sleep_count, i.decision_count,
           i.parked_count, i.awaited_count, i.is_function, i.revision, i.places, i.is_forced,
           i.is_woken, i.undo_error::text
      FROM workflow.workflow_instance AS i
     WHERE i.id = ANY ($1::uuid[])
     ORDER BY i.id
       FOR NO KEY UPDATE
)
SELECT locked.*, clock_timestamp()
  FROM locked
 ORDER BY locked.id COLLATE "C"


-- name: update_instances
-- doing: write instances
-- Writes what may change of rows that this transaction has locked.
--
--   $1..$31  arrays with a value for each row
UPDATE workflow.workflow_instance AS i
   SET output           = given.output,
       status           = given.status,
       generation       = given.generation,
       last_error       = given.last_error,
       start_at         = given.start_at,
       updated_at       = given.updated_at,
       started_at       = given.started_at,
       finished_at      = given.finished_at,
       is_dlq           = coalesce(given.is_dlq, false),
       has_compensation = coalesce(given.has_compensation, false),
       goal             = given.goal,
       is_undo_failed   = coalesce(given.is_undo_failed, false),
       undo_first       = given.undo_first,
       undo_from        = coalesce(given.undo_from, 0),
       undo_to          = coalesce(given.undo_to, 0),
       undo_below       = coalesce(given.undo_below, 0),
       stop_by          = given.stop_by,
       stop_reason      = given.stop_reason,
       commits          = given.commits,
       active_count     = given.active_count,
       wait_count       = coalesce(given.wait_count, 0),
       sleep_count      = coalesce(given.sleep_count, 0),
       decision_count   = coalesce(given.decision_count, 0),
       parked_count     = coalesce(given.parked_count, 0),
       awaited_count    = coalesce(given.awaited_count, 0),
       is_function      = coalesce(given.is_function, false),
       revision         = coalesce(given.revision, 0),
       places           = coalesce(given.places, 0),
       is_forced        = coalesce(given.is_forced, false),
       is_woken         = coalesce(given.is_woken, false),
       undo_error       = given.undo_error
  FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::jsonb[]) AS output,
               unnest($3::text[]) AS status, unnest($4::int[]) AS generation,
               unnest($5::jsonb[]) AS last_error, unnest($6::timestamptz[]) AS start_at,
               unnest($7::timestamptz[]) AS updated_at, unnest($8::timestamptz[]) AS started_at,
               unnest($9::timestamptz[]) AS finished_at, unnest($10::boolean[]) AS is_dlq,
               unnest($11::boolean[]) AS has_compensation, unnest($12::text[]) AS goal,
               unnest($13::boolean[]) AS is_undo_failed, unnest($14::int[]) AS undo_first,
               unnest($15::int[]) AS undo_from, unnest($16::int[]) AS undo_to,
               unnest($17::bigint[]) AS undo_below, unnest($18::text[]) AS stop_by,
               unnest($19::text[]) AS stop_reason, unnest($20::bigint[]) AS commits,
               unnest($21::int[]) AS active_count, unnest($22::int[]) AS wait_count,
               unnest($23::int[]) AS sleep_count, unnest($24::int[]) AS decision_count,
               unnest($25::int[]) AS parked_count, unnest($26::int[]) AS awaited_count,
               unnest($27::boolean[]) AS is_function, unnest($28::bigint[]) AS revision,
               unnest($29::int[]) AS places, unnest($30::boolean[]) AS is_forced,
               unnest($31::boolean[]) AS is_woken, unnest($32::jsonb[]) AS undo_error) AS given
 WHERE i.id = given.id


-- name: get_instance
-- doing: read an instance
-- One row.
--
--   $1  id
SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.id = $1::uuid


-- name: read_instances
-- Rows of a set.
--
--   $1  their ids
--
-- The first column says which of the given ones a row is, from 1.
SELECT given.ordinal,
       i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, ordinal)
  JOIN workflow.workflow_instance AS i ON i.id = given.id


-- name: list_instances
-- Newest first.
--
--   $1  status; NULL: any
--   $2  workflow; NULL: any
--   $3  only rows before this seq
--   $4  how many at most
SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.seq < $3::bigint
   AND ($1::text IS NULL OR i.status = $1::text)
   AND ($2::text IS NULL OR i.workflow = $2::text)
 ORDER BY i.seq DESC
 LIMIT $4::bigint


-- name: list_instances_by_key
-- doing: list instances
-- Newest first, those with one key, found by its index.
--
--   $1  status; NULL: any
--   $2  workflow; NULL: any
--   $3  only rows before this seq
--   $4  how many at most
--   $5  key
SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.key = $5::text
   AND i.seq < $3::bigint
   AND ($1::text IS NULL OR i.status = $1::text)
   AND ($2::text IS NULL OR i.workflow = $2::text)
 ORDER BY i.seq DESC
 LIMIT $4::bigint


-- name: list_instances_by_status
-- doing: list instances
-- Newest first, those of one status; walks its index.
--
--   $1  status; NULL: any
--   $2  workflow; NULL: any
--   $3  only rows before this seq
--   $4  how many at most
SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.status = $1::text
   AND i.seq < $3::bigint
   AND ($2::text IS NULL OR i.workflow = $2::text)
 ORDER BY i.seq DESC
 LIMIT $4::bigint


-- name: list_instances_by_workflow
-- doing: list instances
-- Newest first, those of one workflow; walks its index.
--
--   $1  status; NULL: any
--   $2  workflow; NULL: any
--   $3  only rows before this seq
--   $4  how many at most
SELECT i.seq, i.id::text, i.workflow, i.version, i.key, i.input::text, i.output::text, i.status,
       i.generation, i.last_error::text, i.start_at, i.created_at, i.updated_at, i.started_at,
       i.finished_at, i.is_dlq, i.has_compensation, i.goal, i.is_undo_failed, i.undo_first,
       i.undo_from, i.undo_to, i.undo_below, i.stop_by, i.stop_reason, i.commits,
       i.active_count, i.wait_count, i.sleep_count, i.decision_count, i.parked_count,
       i.awaited_count, i.is_function, i.revision, i.places, i.is_forced, i.is_woken,
       i.undo_error::text
  FROM workflow.workflow_instance AS i
 WHERE i.workflow = $2::text
   AND i.seq < $3::bigint
   AND ($1::text IS NULL OR i.status = $1::text)
 ORDER BY i.seq DESC
 LIMIT $4::bigint


-- name: count_instances
-- How many there are of each status that is not final.  Reads an index, not the
-- table, and nothing of what has ended.
SELECT i.status, count(*)
  FROM workflow.workflow_instance AS i
 WHERE i.status IN ('pending', 'running', 'waiting_signal', 'paused', 'compensating', 'dlq')
 GROUP BY i.status
