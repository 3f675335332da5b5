-- 0031_limits: limits of tasks (docs/decisions/0023), and groups that take turns.

-- Without a CHECK, for which every row would be read: the triggers below look at its length.
ALTER TABLE workflow_run ADD COLUMN "group" TEXT NOT NULL DEFAULT '';
ALTER TABLE workflow_run ADD COLUMN is_counted INTEGER NOT NULL DEFAULT 0;

-- As before, with the group in front of the order within it.  A claim of types without limits and groups
-- reads the part of the group ''.
DROP INDEX idx_workflow_run_claim;
CREATE INDEX idx_workflow_run_claim ON workflow_run (type, "group", priority, seq, run_at)
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL;

-- The leases that limits count: as few as are leased now.
CREATE INDEX idx_workflow_run_counted ON workflow_run (type, "group")
 WHERE status = 'leased' AND is_counted = 1;

CREATE TABLE workflow_limit (
    name         TEXT    PRIMARY KEY,
    types        TEXT    NOT NULL,
    concurrency  INTEGER NOT NULL CHECK (concurrency >= 0),
    rate_n       INTEGER NOT NULL CHECK (rate_n >= 0),
    rate_per_ms  INTEGER NOT NULL CHECK (rate_per_ms >= 0),
    is_per_group INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) WITHOUT ROWID;

-- What of a rate is spent; a row that is not there is a full bucket.
CREATE TABLE workflow_limit_bucket (
    limit_name TEXT    NOT NULL,
    "group"    TEXT    NOT NULL,
    level      INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (limit_name, "group")
) WITHOUT ROWID;

-- Types that have had a task with a group.
CREATE TABLE workflow_group_type (
    type TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Whoever writes it: a group has at most 128 characters, and a type with groups is known as such.
CREATE TRIGGER workflow_run_group_insert AFTER INSERT ON workflow_run WHEN NEW."group" <> ''
BEGIN
    SELECT RAISE(ABORT, 'the group has more than 128 characters') WHERE length(NEW."group") > 128;
    INSERT OR IGNORE INTO workflow_group_type (type) VALUES (NEW.type);
END;

CREATE TRIGGER workflow_run_group_update AFTER UPDATE OF "group", type ON workflow_run WHEN NEW."group" <> ''
BEGIN
    SELECT RAISE(ABORT, 'the group has more than 128 characters') WHERE length(NEW."group") > 128;
    INSERT OR IGNORE INTO workflow_group_type (type) VALUES (NEW.type);
END;
