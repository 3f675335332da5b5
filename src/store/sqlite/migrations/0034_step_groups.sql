-- 0034_step_groups: steps, compensations and functions have groups, and limits count them.

-- The default satisfies the check: it need not be evaluated for each row, which takes long.
PRAGMA ignore_check_constraints = ON;
ALTER TABLE workflow_instance ADD COLUMN "group" TEXT NOT NULL DEFAULT '' CHECK (length("group") <= 128);
ALTER TABLE workflow_step ADD COLUMN "group" TEXT NOT NULL DEFAULT '' CHECK (length("group") <= 128);
PRAGMA ignore_check_constraints = OFF;
ALTER TABLE workflow_step ADD COLUMN is_counted INTEGER NOT NULL DEFAULT 0;

-- As before, with the group in front of the order within it, as idx_workflow_run_claim has it.
DROP INDEX idx_workflow_step_ready;
CREATE INDEX idx_workflow_step_ready
    ON workflow_step (is_ready, task_type, "group", version, priority, next_run_at)
 WHERE is_ready = 1;

-- The leases that limits count: as few as are leased now.
CREATE INDEX idx_workflow_step_counted ON workflow_step (task_type, "group")
 WHERE locked_by IS NOT NULL AND is_counted = 1;

-- Starts by plain SQL may have a group now.  SQLite cannot drop a CHECK, so the table is made again; it holds
-- few rows.
CREATE TABLE workflow_intake_next (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE DEFAULT (lower(
                    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
                    substr(hex(randomblob(2)), 2) || '-' ||
                    substr('89ab', 1 + (random() & 3), 1) ||
                    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
    workflow    TEXT NOT NULL CHECK (workflow <> ''),
    version     INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
    input       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(input)),
    key         TEXT,
    start_at    INTEGER,
    created_at  INTEGER NOT NULL DEFAULT (strftime('%s', 'now') * 1000000 +
                                          substr(strftime('%f', 'now'), 4) * 1000),
    metadata    TEXT CHECK (json_type(metadata) = 'object'),
    tags        TEXT NOT NULL DEFAULT '{}' CHECK (json_type(tags) = 'object'),
    "group"     TEXT NOT NULL DEFAULT '' CHECK (length("group") <= 128),
    instance_id TEXT,
    error       TEXT,
    UNIQUE (workflow, key)
) STRICT;

INSERT INTO workflow_intake_next
       (seq, id, workflow, version, input, key, start_at, created_at, metadata, tags, instance_id, error)
SELECT seq, id, workflow, version, input, key, start_at, created_at, metadata, tags, instance_id, error
  FROM workflow_intake;
DROP TABLE workflow_intake;
ALTER TABLE workflow_intake_next RENAME TO workflow_intake;

CREATE INDEX idx_workflow_intake_untried ON workflow_intake (seq)
 WHERE instance_id IS NULL AND error IS NULL;

-- As before.
CREATE TRIGGER workflow_intake_before_insert BEFORE INSERT ON workflow_intake
BEGIN
    SELECT RAISE(ABORT, 'the workflow, or this version of it, does not exist')
     WHERE NOT EXISTS (SELECT 1
                         FROM workflow_definition
                        WHERE name = NEW.workflow
                          AND (NEW.version = 0 OR version = NEW.version));
    SELECT RAISE(IGNORE)
     WHERE EXISTS (SELECT 1
                     FROM workflow_instance
                    WHERE key = NEW.key
                      AND workflow = NEW.workflow)
        OR EXISTS (SELECT 1
                     FROM workflow_key
                    WHERE kind = 'instance' AND workflow = NEW.workflow AND key = NEW.key);
END;
