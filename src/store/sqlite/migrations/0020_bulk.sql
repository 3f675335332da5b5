-- 0020_bulk: actions on many jobs, instances or dead letters, and how far they are.

CREATE TABLE workflow_bulk (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    target         TEXT NOT NULL,
    action         TEXT NOT NULL,
    filter         TEXT,
    ids            TEXT,
    args           TEXT,
    started_by     TEXT,
    token          TEXT,
    reason         TEXT,
    most           INTEGER NOT NULL,
    per_second     INTEGER NOT NULL,
    expected       INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    status         TEXT NOT NULL,
    place          INTEGER NOT NULL,
    done           INTEGER NOT NULL,
    skipped        TEXT NOT NULL,
    skipped_sample TEXT NOT NULL,
    finished_at    INTEGER,
    next_at        INTEGER NOT NULL,
    locked_by      TEXT,
    locked_until   INTEGER
) STRICT;

CREATE INDEX idx_workflow_bulk_running ON workflow_bulk (seq) WHERE status = 'running';
