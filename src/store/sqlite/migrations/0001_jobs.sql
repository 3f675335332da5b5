-- 0001_jobs: the tables of durable jobs.
--
-- Times are microseconds since 1970.  The defaults are for people: the engine gives every value
-- itself, but an INSERT of type, payload and idempotency_key from the sqlite3 shell is a
-- complete job as well.
--
-- Indexes are partial where they can be, so that they hold what waits and not what is done.
-- Checks compare one by one: SQLite makes a temporary table of a list of more than two for every
-- row that is written, which costs more than the row.

CREATE TABLE workflow_run (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE DEFAULT (lower(
                        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
                        substr(hex(randomblob(2)), 2) || '-' ||
                        substr('89ab', 1 + (random() & 3), 1) ||
                        substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
    type            TEXT NOT NULL CHECK (type <> ''),
    payload         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
    status          TEXT NOT NULL DEFAULT 'pending'
                    CHECK (status = 'pending' OR status = 'leased' OR status = 'succeeded' OR
                           status = 'failed' OR status = 'cancelled'),
    priority        INTEGER NOT NULL DEFAULT 100,
    run_at          INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                              substr(strftime('%f', 'now'), 4) * 1000),
    idempotency_key TEXT,
    attempt         INTEGER NOT NULL DEFAULT 0,
    max_attempts    INTEGER NOT NULL DEFAULT 3,
    leased_by       TEXT,
    lease_until     INTEGER,
    last_error      TEXT,
    result          TEXT,
    created_at      INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                              substr(strftime('%f', 'now'), 4) * 1000),
    updated_at      INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                              substr(strftime('%f', 'now'), 4) * 1000),
    deleted_at      INTEGER,
    is_ready        INTEGER NOT NULL DEFAULT 1 CHECK (is_ready IN (0, 1)),
    lease_token     TEXT,
    ended_by        TEXT,
    ended_token     TEXT
) STRICT;

-- Not partial: ON CONFLICT (idempotency_key) must find it.
CREATE UNIQUE INDEX idx_workflow_run_idempotency ON workflow_run (idempotency_key);

-- What can be claimed, in the order of claiming within a type.  run_at rides along so that
-- counting what is due reads no rows.
CREATE INDEX idx_workflow_run_claim ON workflow_run (type, priority, seq, run_at)
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL;

-- What waits for its time.
CREATE INDEX idx_workflow_run_scheduled ON workflow_run (run_at)
 WHERE status = 'pending' AND is_ready = 0 AND deleted_at IS NULL;

-- What a worker holds.
CREATE INDEX idx_workflow_run_leased ON workflow_run (lease_until)
 WHERE status = 'leased';

-- What went wrong, for lists; the rowid behind it is the order.
CREATE INDEX idx_workflow_run_unsuccessful ON workflow_run (status)
 WHERE status IN ('failed', 'cancelled');

CREATE INDEX idx_workflow_run_deleted_at ON workflow_run (deleted_at)
 WHERE deleted_at IS NOT NULL;

CREATE TABLE workflow_event (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow_id TEXT NOT NULL,
    event_type  TEXT NOT NULL,
    data        TEXT,
    created_at  INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                          substr(strftime('%f', 'now'), 4) * 1000)
) STRICT;

CREATE INDEX idx_workflow_event_workflow_id ON workflow_event (workflow_id);

CREATE TABLE workflow_registry (
    workflow_name TEXT NOT NULL PRIMARY KEY,
    intent_type   TEXT NOT NULL DEFAULT 'workflow',
    runtime       TEXT NOT NULL,
    is_enabled    INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    description   TEXT,
    created_at    INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                            substr(strftime('%f', 'now'), 4) * 1000),
    updated_at    INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                            substr(strftime('%f', 'now'), 4) * 1000)
) STRICT, WITHOUT ROWID;
