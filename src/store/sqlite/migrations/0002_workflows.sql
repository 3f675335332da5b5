-- 0002_workflows: definitions, instances, steps, and what is said to and by them.
--
-- Times are microseconds since 1970.  A place in a plan that is not set is NULL.
--
-- A step's id holds both its instance and its place: instance_seq * 2^20 + seq.  So the steps
-- of an instance lie side by side, in the order of the plan, and an index that ends in the id
-- is in that order as well.  instance_seq and seq are for people and indexes; they take no
-- room.
--
-- Columns that change come before long texts, so that a change of state leaves those where they
-- are.  Indexes are partial: planned and ended steps are in none, or in one.  Checks compare one
-- by one, as in 0001.

CREATE TABLE workflow_definition (
    name       TEXT NOT NULL CHECK (name <> ''),
    version    INTEGER NOT NULL CHECK (version >= 1),
    hash       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    content    TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (name, version)
) STRICT;

CREATE TABLE workflow_instance (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT,
    id               TEXT NOT NULL UNIQUE,
    workflow         TEXT NOT NULL CHECK (workflow <> ''),
    version          INTEGER NOT NULL,
    key              TEXT,
    status           TEXT NOT NULL
                     CHECK (status = 'running' OR status = 'completed' OR
                            status = 'pending' OR status = 'waiting_signal' OR
                            status = 'paused' OR status = 'compensating' OR status = 'dlq' OR
                            status = 'failed' OR status = 'cancelled' OR
                            status = 'aborted'),
    generation       INTEGER NOT NULL,
    start_at         INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    started_at       INTEGER,
    finished_at      INTEGER,
    is_dlq           INTEGER NOT NULL CHECK (is_dlq IN (0, 1)),
    has_compensation INTEGER NOT NULL CHECK (has_compensation IN (0, 1)),

    -- Where it is going: 0 forward, 1 to failure, 2 and 3 undoing, to failed and to cancelled,
    -- 4 undoing what was requeued.
    goal             INTEGER NOT NULL CHECK (goal BETWEEN 0 AND 4),
    is_undo_failed   INTEGER NOT NULL CHECK (is_undo_failed IN (0, 1)),
    undo_first       INTEGER,
    undo_from        INTEGER,
    undo_to          INTEGER,
    undo_below       INTEGER NOT NULL,
    commits          INTEGER NOT NULL,
    active_count     INTEGER NOT NULL CHECK (active_count >= 0),
    wait_count       INTEGER NOT NULL CHECK (wait_count >= 0),
    sleep_count      INTEGER NOT NULL CHECK (sleep_count >= 0),
    decision_count   INTEGER NOT NULL CHECK (decision_count >= 0),
    parked_count     INTEGER NOT NULL CHECK (parked_count >= 0),
    awaited_count    INTEGER NOT NULL CHECK (awaited_count >= 0),
    stop_by          TEXT,
    stop_reason      TEXT,
    last_error       TEXT,
    input            TEXT CHECK (input IS NULL OR json_valid(input)),
    output           TEXT
) STRICT;

-- By key first, so that a key can be looked up without its workflow.
CREATE UNIQUE INDEX idx_workflow_instance_key ON workflow_instance (key, workflow)
 WHERE key IS NOT NULL;

-- For lists; the rowid behind it is the order.
CREATE INDEX idx_workflow_instance_workflow ON workflow_instance (workflow);

CREATE INDEX idx_workflow_instance_status ON workflow_instance (status)
 WHERE status <> 'completed';

-- What starts later.
CREATE INDEX idx_workflow_instance_start ON workflow_instance (start_at)
 WHERE status = 'pending';

CREATE TABLE workflow_step (
    id                    INTEGER PRIMARY KEY,
    instance_seq          INTEGER GENERATED ALWAYS AS (id >> 20) VIRTUAL,
    seq                   INTEGER GENERATED ALWAYS AS (id & 1048575) VIRTUAL,
    name                  TEXT NOT NULL CHECK (name <> ''),
    kind                  TEXT NOT NULL
                          CHECK (kind = 'task' OR kind = 'sleep' OR kind = 'wait' OR
                                 kind = 'save_point' OR kind = 'condition' OR
                                 kind = 'fork' OR kind = 'join' OR kind = 'human'),
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
    -- 4 superseded.
    stop                  INTEGER NOT NULL CHECK (stop BETWEEN 0 AND 4),
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

CREATE TABLE workflow_signal (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT NOT NULL,
    id          TEXT NOT NULL,
    event       TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    taken_by    INTEGER CHECK (taken_by >= 0),
    payload     TEXT,
    UNIQUE (instance_id, id)
) STRICT;

CREATE INDEX idx_workflow_signal_untaken ON workflow_signal (instance_id, event)
 WHERE taken_by IS NULL;

CREATE TABLE workflow_outbox (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id     TEXT NOT NULL,
    step            TEXT,
    event           TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    claimed_by      TEXT,
    claimed_until   INTEGER,
    acknowledged_at INTEGER,
    payload         TEXT
) STRICT;

CREATE INDEX idx_workflow_outbox_open ON workflow_outbox (id)
 WHERE acknowledged_at IS NULL;

-- What somebody has claimed, for what must wait behind it.
CREATE INDEX idx_workflow_outbox_claimed ON workflow_outbox (instance_id)
 WHERE acknowledged_at IS NULL AND claimed_by IS NOT NULL;

CREATE TABLE workflow_human_decision (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT NOT NULL,
    step_seq    INTEGER NOT NULL,
    step_name   TEXT NOT NULL,
    decided_by  TEXT NOT NULL,
    decision    TEXT NOT NULL CHECK (decision IN ('confirmed', 'rejected')),
    comment     TEXT,
    decided_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_workflow_human_decision_instance
    ON workflow_human_decision (instance_id);

CREATE TABLE workflow_dlq (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT NOT NULL,
    workflow    TEXT NOT NULL,
    version     INTEGER NOT NULL,
    step_seq    INTEGER NOT NULL,
    step_name   TEXT NOT NULL,
    step_type   TEXT,
    reason      TEXT,
    created_at  INTEGER NOT NULL,
    is_open     INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    error       TEXT,
    input       TEXT
) STRICT;

CREATE INDEX idx_workflow_dlq_open ON workflow_dlq (id)
 WHERE is_open = 1;

CREATE INDEX idx_workflow_dlq_instance ON workflow_dlq (instance_id)
 WHERE is_open = 1;

-- Instances write to the same trail as jobs; a step's events name it.
ALTER TABLE workflow_event ADD COLUMN step TEXT;
