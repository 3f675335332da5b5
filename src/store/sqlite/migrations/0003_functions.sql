-- 0003_functions: what functions keep beyond workflows.
--
-- A function is an instance whose steps are not planned: place 0 is the function itself, further
-- places are what it remembers, added as it goes.

-- revision rises with every commit that writes the row; places is the next free place.
ALTER TABLE workflow_instance ADD COLUMN is_function INTEGER NOT NULL DEFAULT 0
      CHECK (is_function IN (0, 1));
ALTER TABLE workflow_instance ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN places INTEGER NOT NULL DEFAULT 0
      CHECK (places >= 0);
ALTER TABLE workflow_instance ADD COLUMN is_forced INTEGER NOT NULL DEFAULT 0
      CHECK (is_forced IN (0, 1));
ALTER TABLE workflow_instance ADD COLUMN is_woken INTEGER NOT NULL DEFAULT 0
      CHECK (is_woken IN (0, 1));

-- Steps know more kinds, and one more reason to stop.  SQLite cannot change a CHECK, so the table
-- is made anew; otherwise it is as in 0002, which see for its id.
CREATE TABLE workflow_step_new (
    id                    INTEGER PRIMARY KEY,
    instance_seq          INTEGER GENERATED ALWAYS AS (id >> 20) VIRTUAL,
    seq                   INTEGER GENERATED ALWAYS AS (id & 1048575) VIRTUAL,
    name                  TEXT NOT NULL CHECK (name <> ''),
    kind                  TEXT NOT NULL
                          CHECK (kind = 'task' OR kind = 'sleep' OR kind = 'wait' OR
                                 kind = 'save_point' OR kind = 'condition' OR
                                 kind = 'fork' OR kind = 'join' OR kind = 'human' OR
                                 kind = 'function' OR kind = 'value' OR kind = 'start'),
    handler               TEXT,
    max_attempts          INTEGER NOT NULL,
    priority              INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
    next                  INTEGER,
    scope_fork            INTEGER,
    scope_from            INTEGER,
    scope_to              INTEGER,
    status                TEXT NOT NULL
                          CHECK (status = 'pending' OR status = 'ready' OR
                                 status = 'running' OR status = 'completed' OR
                                 status = 'waiting' OR status = 'waiting_decision' OR
                                 status = 'confirmed' OR status = 'rejected' OR
                                 status = 'failed' OR status = 'paused' OR
                                 status = 'compensation' OR status = 'rolled_back' OR
                                 status = 'skipped'),
    attempts              INTEGER NOT NULL,
    compensation_attempts INTEGER NOT NULL,
    commit_no             INTEGER CHECK (commit_no > 0),
    next_run_at           INTEGER,
    started_at            INTEGER,
    finished_at           INTEGER,

    -- is_ready: can be claimed now.  is_current: in some way under way, whatever its status; a
    -- claim does not change it, so that it does not touch that index.
    is_ready              INTEGER NOT NULL CHECK (is_ready IN (0, 1)),
    is_held               INTEGER NOT NULL CHECK (is_held IN (0, 1)),
    is_current            INTEGER NOT NULL,
    task_type             TEXT,
    due_at                INTEGER,
    locked_by             TEXT,
    token                 TEXT,
    locked_until          INTEGER,
    call_until            INTEGER,
    ended_by              TEXT,
    ended_token           TEXT,

    -- Why its worker shall stop: 0 it shall not, 1 cancelled, 2 aborted, 3 rollback,
    -- 4 superseded, 5 paused.
    stop                  INTEGER NOT NULL CHECK (stop BETWEEN 0 AND 5),
    waiting_event         TEXT,
    deadline_at           INTEGER,
    is_timed_out          INTEGER NOT NULL CHECK (is_timed_out IN (0, 1)),
    remaining             INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    signal                TEXT,
    error                 TEXT,
    config                TEXT,
    metadata              TEXT,
    input                 TEXT,
    output                TEXT,

    CHECK ((locked_by IS NULL) = (locked_until IS NULL)),
    CHECK ((locked_by IS NULL) = (token IS NULL)),
    CHECK (is_ready = 0 OR (status IN ('ready', 'compensation') AND task_type IS NOT NULL AND
                            locked_by IS NULL AND is_held = 0)),
    CHECK (is_current = (status = 'ready' OR status = 'running' OR status = 'waiting' OR
                         status = 'waiting_decision' OR status = 'paused' OR
                         status = 'compensation' OR
                         locked_by IS NOT NULL OR is_held = 1))
) STRICT;

INSERT INTO workflow_step_new
      (id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at,
       finished_at, is_ready, is_held, is_current, task_type, due_at, locked_by, token,
       locked_until, call_until, ended_by, ended_token, stop, waiting_event, deadline_at,
       is_timed_out, remaining, updated_at, signal, error, config, metadata, input, output)
SELECT id, name, kind, handler, max_attempts, priority, next, scope_fork, scope_from, scope_to,
       status, attempts, compensation_attempts, commit_no, next_run_at, started_at,
       finished_at, is_ready, is_held, is_current, task_type, due_at, locked_by, token,
       locked_until, call_until, ended_by, ended_token, stop, waiting_event, deadline_at,
       is_timed_out, remaining, updated_at, signal, error, config, metadata, input, output
  FROM workflow_step;

-- The old way of renaming does not read views, which may be of strangers and miss this table now.
PRAGMA legacy_alter_table = ON;
DROP TABLE workflow_step;
ALTER TABLE workflow_step_new RENAME TO workflow_step;
PRAGMA legacy_alter_table = OFF;

-- What can be claimed: within a type and a priority the one that has waited longest leads.
-- is_ready is in it so that a claim reads the rows of what it takes and no others.
CREATE INDEX idx_workflow_step_ready
    ON workflow_step (is_ready, task_type, priority, next_run_at)
 WHERE is_ready = 1;

-- Timers.  A step is in one of these three at most: what a worker holds; what becomes claimable
-- by itself; everything else that waits for a time.
CREATE INDEX idx_workflow_step_leased ON workflow_step (due_at)
 WHERE locked_by IS NOT NULL;

CREATE INDEX idx_workflow_step_scheduled ON workflow_step (due_at)
 WHERE due_at IS NOT NULL AND locked_by IS NULL AND is_held = 0
   AND status IN ('ready', 'compensation');

CREATE INDEX idx_workflow_step_timer ON workflow_step (due_at)
 WHERE due_at IS NOT NULL AND locked_by IS NULL
   AND (is_held = 1 OR status NOT IN ('ready', 'compensation'));

-- What is under way in an instance, by place.
CREATE INDEX idx_workflow_step_current ON workflow_step (instance_seq)
 WHERE is_current = 1;

-- In which order an instance's steps ended.
CREATE INDEX idx_workflow_step_committed ON workflow_step (instance_seq, commit_no)
 WHERE commit_no IS NOT NULL;

CREATE TABLE workflow_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT NOT NULL,
    level       TEXT NOT NULL,
    step        TEXT,
    attempt     INTEGER CHECK (attempt > 0),
    at          INTEGER NOT NULL,
    message     TEXT NOT NULL,
    data        TEXT
) STRICT;

-- For an instance's log; the rowid behind it is the order.
CREATE INDEX idx_workflow_log_instance ON workflow_log (instance_id);
