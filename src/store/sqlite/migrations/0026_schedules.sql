-- 0026_schedules: what starts by itself, and what became of each time.

CREATE TABLE workflow_schedule (
    name       TEXT PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    cron       TEXT,
    every_ms   INTEGER NOT NULL,
    timezone   TEXT NOT NULL,
    workflow   TEXT,
    task       TEXT,
    version    INTEGER NOT NULL,
    input      TEXT,
    overlap    TEXT NOT NULL CHECK (overlap IN ('skip', 'allow', 'queue', 'cancel')),
    catch_up   TEXT NOT NULL CHECK (catch_up IN ('none', 'last', 'all')),
    is_paused  INTEGER NOT NULL,
    anchor_at  INTEGER NOT NULL,
    next_at    INTEGER,
    due_at     INTEGER CHECK (due_at IS NULL OR is_paused = 0),
    waiting_at INTEGER,
    last_at    INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((cron IS NULL) = (every_ms > 0)),
    CHECK ((workflow IS NULL) <> (task IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_workflow_schedule_due ON workflow_schedule (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX idx_workflow_schedule_waiting ON workflow_schedule (waiting_at)
 WHERE waiting_at IS NOT NULL AND is_paused = 0;

CREATE TABLE workflow_schedule_run (
    schedule TEXT NOT NULL,
    at       INTEGER NOT NULL,
    run_id   TEXT,
    is_job   INTEGER NOT NULL,
    is_open  INTEGER NOT NULL,
    error    TEXT,
    status   TEXT NOT NULL,
    PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_workflow_schedule_run_open ON workflow_schedule_run (schedule, at) WHERE is_open = 1;

ALTER TABLE workflow_run ADD COLUMN schedule TEXT;
ALTER TABLE workflow_instance ADD COLUMN schedule TEXT;
