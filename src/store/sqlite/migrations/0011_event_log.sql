-- 0011_event_log: one row of events for each commit, and a chain from each job and instance to its own.
--
-- A row of workflow_event_log holds up to 4096 events, in slots from 0.  The id of an event is the id of its row
-- << 12 | its slot.  The row of a job or an instance has the id of its latest event (last_event), and
-- each event the id of the one before it (prev): so the history of one subject is read backwards, by
-- primary key, without an index of subjects.  workflow_event_post has every 100th event of a subject, so that
-- a reader need not begin at the newest one.
--
-- Events from before stay where they are, in the table that is workflow_event_loose now; their ids stay as well.

ALTER TABLE workflow_run ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_run ADD COLUMN event_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN event_count INTEGER NOT NULL DEFAULT 0;

-- Events of a commit are much alike: what they say stands once, and each slot has the place of its own.
-- Numbers are digits, of which substr() cuts one out.
CREATE TABLE workflow_event_log (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    at    INTEGER NOT NULL,
    kinds BLOB,                 -- 4 digits a slot: places in said, from 0; NULL: all 0
    prev  BLOB,                 -- 16 digits a slot: the subject's event before this one, 0 for none; NULL: all 0
    said  TEXT NOT NULL,        -- [[type, step or null, data], ...]
    ids   TEXT NOT NULL         -- [job or instance, ...] by slot; null: it is not used
) STRICT;

CREATE TABLE workflow_event_post (
    workflow_id TEXT NOT NULL,
    event_id    INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, event_id)
) STRICT, WITHOUT ROWID;

-- Events of no row: those that plain SQL inserts, and the starts of steps whose instance the claim has not read.
-- The old way of renaming leaves views of strangers as they are: they mean the view below.
PRAGMA legacy_alter_table = ON;
ALTER TABLE workflow_event RENAME TO workflow_event_loose;
PRAGMA legacy_alter_table = OFF;

-- All events, found by their subject.  WHERE workflow_id = ... reads the events of that one.
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
               SELECT CAST(substr(l.prev, (walk.id & 4095) * 16 + 1, 16) AS INTEGER)
                 FROM walk
                 JOIN workflow_event_log AS l ON l.id = walk.id >> 12
           )
           SELECT json_group_array(json_array(slot.id,
                                              json_extract(slot.said, slot.path || '[0]'),
                                              json_extract(slot.said, slot.path || '[1]'),
                                              json_extract(slot.said, slot.path || '[2]'),
                                              slot.at))
             FROM (SELECT walk.id, l.at, l.said,
                          '$[' || coalesce(CAST(substr(l.kinds, (walk.id & 4095) * 4 + 1, 4)
                                                AS INTEGER), 0) || ']' AS path
                     FROM walk
                     JOIN workflow_event_log AS l ON l.id = walk.id >> 12) AS slot)) AS e;

-- All events, found by their ids.  log_id is id >> 12: WHERE id > ... AND log_id >= ... reads the events
-- from there on.
CREATE VIEW workflow_event_stream AS
SELECT id, id >> 12 AS log_id, workflow_id, event_type, data, created_at, step
  FROM workflow_event_loose
 UNION ALL
SELECT l.id << 12 | slot.key, l.id, slot.value,
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][0]'),
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][2]'),
       l.at,
       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0) || '][1]')
  FROM workflow_event_log AS l, json_each(l.ids) AS slot
 WHERE slot.value IS NOT NULL;

-- The next number of a row, for both tables.
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
