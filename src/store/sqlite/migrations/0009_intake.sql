-- 0009_intake: starts that an application writes in its own transaction, with plain SQL.
--
-- A row becomes the instance with its id, and is deleted in that commit.  What stays could not be
-- started (error), or its key went to another instance meanwhile (instance_id).  tags and "group" are
-- for later versions.

CREATE TABLE workflow_intake (
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
    tags        TEXT NOT NULL DEFAULT '{}' CHECK (tags = '{}'),
    "group"     TEXT NOT NULL DEFAULT '' CHECK ("group" = ''),
    instance_id TEXT,
    error       TEXT,
    UNIQUE (workflow, key)
) STRICT;

CREATE INDEX idx_workflow_intake_untried ON workflow_intake (seq)
 WHERE instance_id IS NULL AND error IS NULL;

-- An unknown workflow is refused.  A key that has an instance is passed over: no row is inserted.
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
                      AND workflow = NEW.workflow);
END;
