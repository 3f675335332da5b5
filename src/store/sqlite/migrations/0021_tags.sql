-- 0021_tags: names and values by which jobs and instances are found.
--
-- A row keeps its tags itself; workflow_tag is their index, and triggers keep it, also for rows that an
-- application writes.  A row without tags writes nothing there.

ALTER TABLE workflow_run ADD COLUMN tags TEXT;
ALTER TABLE workflow_instance ADD COLUMN tags TEXT;

CREATE TABLE workflow_tag (
    name  TEXT NOT NULL CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 64
                               AND instr(name, ':') = 0 AND instr(name, '=') = 0),
    value TEXT NOT NULL CHECK (length(CAST(value AS BLOB)) <= 256),
    kind  TEXT NOT NULL CHECK (kind IN ('job', 'instance')),
    seq   INTEGER NOT NULL,
    PRIMARY KEY (name, value, kind, seq)
) STRICT, WITHOUT ROWID;

-- What is no object of texts leaves a name or a value NULL, which the table refuses.
CREATE TRIGGER workflow_run_tags_insert AFTER INSERT ON workflow_run WHEN NEW.tags IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'there are more than 16 tags')
     WHERE (SELECT count(*) FROM json_each(NEW.tags)) > 16;
    INSERT INTO workflow_tag (name, value, kind, seq)
    SELECT CASE typeof(key) WHEN 'text' THEN key END, CASE type WHEN 'text' THEN atom END, 'job', NEW.seq
      FROM json_each(NEW.tags);
END;

CREATE TRIGGER workflow_run_tags_delete AFTER DELETE ON workflow_run WHEN OLD.tags IS NOT NULL
BEGIN
    DELETE FROM workflow_tag
     WHERE (name, value, kind, seq) IN (SELECT key, atom, 'job', OLD.seq FROM json_each(OLD.tags));
END;

CREATE TRIGGER workflow_run_tags_update AFTER UPDATE OF tags, seq ON workflow_run
  WHEN OLD.tags IS NOT NULL OR NEW.tags IS NOT NULL
BEGIN
    DELETE FROM workflow_tag
     WHERE (name, value, kind, seq) IN (SELECT key, atom, 'job', OLD.seq FROM json_each(OLD.tags));
    SELECT RAISE(ABORT, 'there are more than 16 tags')
     WHERE (SELECT count(*) FROM json_each(NEW.tags)) > 16;
    INSERT INTO workflow_tag (name, value, kind, seq)
    SELECT CASE typeof(key) WHEN 'text' THEN key END, CASE type WHEN 'text' THEN atom END, 'job', NEW.seq
      FROM json_each(NEW.tags);
END;

CREATE TRIGGER workflow_instance_tags_insert AFTER INSERT ON workflow_instance WHEN NEW.tags IS NOT NULL
BEGIN
    INSERT INTO workflow_tag (name, value, kind, seq)
    SELECT key, atom, 'instance', NEW.seq FROM json_each(NEW.tags);
END;

CREATE TRIGGER workflow_instance_tags_delete AFTER DELETE ON workflow_instance WHEN OLD.tags IS NOT NULL
BEGIN
    DELETE FROM workflow_tag
     WHERE (name, value, kind, seq) IN (SELECT key, atom, 'instance', OLD.seq FROM json_each(OLD.tags));
END;

-- Starts by plain SQL may have tags now.  SQLite cannot drop a CHECK, so the table is made again; it holds
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
    "group"     TEXT NOT NULL DEFAULT '' CHECK ("group" = ''),
    instance_id TEXT,
    error       TEXT,
    UNIQUE (workflow, key)
) STRICT;

INSERT INTO workflow_intake_next
       (seq, id, workflow, version, input, key, start_at, created_at, metadata, instance_id, error)
SELECT seq, id, workflow, version, input, key, start_at, created_at, metadata, instance_id, error
  FROM workflow_intake;
DROP TABLE workflow_intake;
ALTER TABLE workflow_intake_next RENAME TO workflow_intake;

CREATE INDEX idx_workflow_intake_untried ON workflow_intake (seq)
 WHERE instance_id IS NULL AND error IS NULL;

-- As before: an unknown workflow is refused, and a key that has an instance is passed over.
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
