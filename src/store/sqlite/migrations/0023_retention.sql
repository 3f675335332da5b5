-- 0023_retention: how long history is kept, keys that outlive it, and events of which a part is gone.

-- One row.  Ages are milliseconds after the end; -1: for ever.  A store that holds something keeps everything until
-- somebody sets a policy.
CREATE TABLE workflow_retention (
    id                  INTEGER PRIMARY KEY CHECK (id = 1),
    jobs_succeeded      INTEGER NOT NULL CHECK (jobs_succeeded >= -1),
    jobs_failed         INTEGER NOT NULL CHECK (jobs_failed >= -1),
    jobs_cancelled      INTEGER NOT NULL CHECK (jobs_cancelled >= -1),
    instances_completed INTEGER NOT NULL CHECK (instances_completed >= -1),
    instances_failed    INTEGER NOT NULL CHECK (instances_failed >= -1),
    instances_cancelled INTEGER NOT NULL CHECK (instances_cancelled >= -1),
    instances_aborted   INTEGER NOT NULL CHECK (instances_aborted >= -1),
    keys                INTEGER NOT NULL CHECK (keys >= -1),
    set_at              INTEGER,
    next_at             INTEGER,
    phase               INTEGER NOT NULL DEFAULT 0,
    place               INTEGER NOT NULL DEFAULT 0,
    earliest            INTEGER,
    seen                INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO workflow_retention
       (id, jobs_succeeded, jobs_failed, jobs_cancelled, instances_completed, instances_failed,
        instances_cancelled, instances_aborted, keys)
SELECT 1, iif(store.is_new, 2592000000, -1), iif(store.is_new, 7776000000, -1),
       iif(store.is_new, 2592000000, -1), iif(store.is_new, 2592000000, -1),
       iif(store.is_new, 7776000000, -1), iif(store.is_new, 2592000000, -1),
       iif(store.is_new, 7776000000, -1), 7776000000
  FROM (SELECT NOT EXISTS (SELECT 1 FROM workflow_run)
               AND NOT EXISTS (SELECT 1 FROM workflow_instance)
               AND NOT EXISTS (SELECT 1 FROM workflow_definition)
               AND NOT EXISTS (SELECT 1 FROM workflow_registry)
               AND NOT EXISTS (SELECT 1 FROM workflow_event_loose) AS is_new) AS store;

-- Keys whose owner was purged.
CREATE TABLE workflow_key (
    kind     TEXT NOT NULL CHECK (kind IN ('job', 'instance')),
    workflow TEXT NOT NULL,
    key      TEXT NOT NULL,
    id       TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (kind, workflow, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_workflow_key_ended ON workflow_key (ended_at);

-- A row whose key is kept is passed over, as if its owner were there.
CREATE TRIGGER workflow_run_kept_key BEFORE INSERT ON workflow_run
  WHEN NEW.idempotency_key IS NOT NULL
   AND EXISTS (SELECT 1
                 FROM workflow_key
                WHERE kind = 'job' AND workflow = '' AND key = NEW.idempotency_key)
BEGIN
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER workflow_instance_kept_key BEFORE INSERT ON workflow_instance
  WHEN NEW.key IS NOT NULL
   AND EXISTS (SELECT 1
                 FROM workflow_key
                WHERE kind = 'instance' AND workflow = NEW.workflow AND key = NEW.key)
BEGIN
    SELECT RAISE(IGNORE);
END;

DROP TRIGGER workflow_intake_before_insert;
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

-- Dead letters of an instance, closed ones too.
CREATE INDEX idx_workflow_dlq_list ON workflow_dlq (instance_id);

-- Of a row of the log, how many events it has and which of them are purged: '0012,0345,' are slots.  A row that has
-- none left is deleted.  One that has few left is written anew with these alone: then its own column `slots` says
-- which they are, in order.
CREATE TABLE workflow_event_gone (
    log_id INTEGER PRIMARY KEY,
    used   INTEGER NOT NULL,
    gone   INTEGER NOT NULL,
    slots  TEXT NOT NULL
) STRICT;

ALTER TABLE workflow_event_log ADD COLUMN slots TEXT;

-- As in 0011, but for `slots` and for what is purged.
DROP VIEW workflow_event;
CREATE VIEW workflow_event AS
SELECT id, workflow_id, event_type, data, created_at, step
  FROM workflow_event_loose
 UNION ALL
SELECT e.value ->> 0, subject.id, e.value ->> 1, e.value ->> 3, e.value ->> 4, e.value ->> 2
  FROM (SELECT id, last_event FROM workflow_run
         UNION ALL
        SELECT id, last_event FROM workflow_instance) AS subject,
       json_each((
           WITH RECURSIVE walk (id) AS (
               SELECT subject.last_event
                UNION ALL
               SELECT CAST(substr(l.prev,
                                  iif(l.slots IS NULL, walk.id & 4095,
                                      (instr(l.slots, printf('%04d,', walk.id & 4095)) - 1) / 5) * 16 + 1,
                                  16) AS INTEGER)
                 FROM walk
                 JOIN workflow_event_log AS l ON l.id = walk.id >> 12
           )
           SELECT json_group_array(json_array(slot.id,
                                              json_extract(slot.said, slot.path || '[0]'),
                                              json_extract(slot.said, slot.path || '[1]'),
                                              json_extract(slot.said, slot.path || '[2]'),
                                              slot.at))
             FROM (SELECT walk.id, l.at, l.said,
                          '$[' || coalesce(CAST(substr(l.kinds,
                                                       iif(l.slots IS NULL, walk.id & 4095,
                                                           (instr(l.slots, printf('%04d,', walk.id & 4095))
                                                            - 1) / 5) * 4 + 1,
                                                       4) AS INTEGER), 0) || ']' AS path
                     FROM walk
                     JOIN workflow_event_log AS l ON l.id = walk.id >> 12) AS slot)) AS e;

DROP VIEW workflow_event_stream;
CREATE VIEW workflow_event_stream AS
SELECT id, id >> 12 AS log_id, workflow_id, event_type, data, created_at, step
  FROM workflow_event_loose
 UNION ALL
SELECT l.id << 12 | iif(l.slots IS NULL, slot.key, CAST(substr(l.slots, slot.key * 5 + 1, 4) AS INTEGER)),
       l.id, slot.value,
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][0]'),
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][2]'),
       l.at,
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][1]')
  FROM workflow_event_log AS l
  LEFT JOIN workflow_event_gone AS g ON g.log_id = l.id
  JOIN json_each(l.ids) AS slot
 WHERE slot.value IS NOT NULL
   AND (g.slots IS NULL
        OR instr(g.slots, iif(l.slots IS NULL, printf('%04d,', slot.key), substr(l.slots, slot.key * 5 + 1, 5)))
           = 0);

CREATE TRIGGER workflow_event_insert INSTEAD OF INSERT ON workflow_event
BEGIN
    INSERT INTO workflow_event_loose (id, workflow_id, event_type, data, created_at, step)
    SELECT (1 + coalesce(max(iif(name = 'workflow_event_log', seq, seq >> 12)), 0)) << 12,
           NEW.workflow_id, NEW.event_type, NEW.data,
           coalesce(NEW.created_at, strftime('%s', 'now') * 1000000 +
                                    substr(strftime('%f', 'now'), 4) * 1000),
           NEW.step
      FROM sqlite_sequence
     WHERE name IN ('workflow_event_log', 'workflow_event_loose');
END;
