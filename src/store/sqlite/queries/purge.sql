-- name: get_retention
-- doing: read the retention policy
-- The only row.
SELECT {retention.columns}
  FROM workflow_retention
 WHERE id = 1;


-- name: put_retention
-- doing: write the retention policy
UPDATE workflow_retention
   SET {retention.changes}
 WHERE id = 1;


-- name: scan_past_jobs
-- doing: look for old jobs
-- Jobs in the order of their numbers; a deleted one is cancelled, unless somebody still holds it.
--
--   :after  those behind this number
--   :room   how many at most
SELECT seq, id, type AS name, created_at, idempotency_key AS "key", last_event, event_count,
       iif(deleted_at IS NOT NULL AND status <> 'leased', 'cancelled', status) AS status,
       CASE WHEN status = 'leased' THEN NULL
            WHEN deleted_at IS NOT NULL THEN deleted_at
            WHEN status <> 'pending' THEN updated_at END AS ended_at
  FROM workflow_run
 WHERE seq > :after
 ORDER BY seq
 LIMIT :room;


-- part: past_instance
@seq, @id, @workflow AS name, @status, @finished_at AS ended_at, @created_at, @key, @last_event, @event_count


-- part: is_held
@is_telling
OR EXISTS (SELECT 1 FROM workflow_dlq AS d WHERE d.instance_id = @id AND d.is_open = 1)
OR EXISTS (SELECT 1 FROM workflow_outbox AS o WHERE o.instance_id = @id AND o.acknowledged_at IS NULL)


-- part: family
-- The children of the instance :id, their children and so on.
WITH RECURSIVE family (id) AS (
    SELECT id FROM workflow_instance WHERE parent = :id
     UNION
    SELECT c.id
      FROM family AS f
      JOIN workflow_instance AS c ON c.parent = f.id
)


-- name: scan_past_instances
-- doing: look for old instances
-- Instances in the order of their numbers.
--
--   :after  those behind this number
--   :room   how many at most
SELECT {past_instance i},
       EXISTS (SELECT 1 FROM workflow_instance AS p WHERE p.id = i.parent) AS is_child,
       EXISTS (SELECT 1 FROM workflow_instance AS c WHERE c.parent = i.id) AS has_children,
       {is_held i} AS is_held
  FROM workflow_instance AS i
 WHERE i.seq > :after
 ORDER BY i.seq
 LIMIT :room;


-- name: list_family
-- doing: look for children
-- The children of an instance, their children and so on.
--
--   :id    whose
--   :room  how many at most
{family}
SELECT {past_instance i},
       1 AS is_child, 0 AS has_children,
       {is_held i} AS is_held
  FROM family AS f
 CROSS JOIN workflow_instance AS i ON i.id = f.id
 LIMIT :room;


-- name: measure_family
-- doing: look for children
-- How many children an instance has, with theirs and so on; how many of them have not ended; how many others are held.
--
--   :id  whose
{family}
SELECT count(*), count(*) FILTER (WHERE i.finished_at IS NULL),
       count(*) FILTER (WHERE i.finished_at IS NOT NULL AND (
           {is_held i}))
  FROM family AS f
 CROSS JOIN workflow_instance AS i ON i.id = f.id;


-- name: list_past_children
-- doing: look for children
-- The children of an instance in the order of their numbers.
--
--   :id     whose
--   :after  those behind this number
--   :room   how many at most
SELECT {past_instance i},
       1 AS is_child,
       EXISTS (SELECT 1 FROM workflow_instance AS c WHERE c.parent = i.id) AS has_children,
       {is_held i} AS is_held
  FROM workflow_instance AS i
 WHERE i.parent = :id AND i.seq > :after
 ORDER BY i.seq
 LIMIT :room;


-- name: list_begun_purges
-- doing: look for purges that were begun
-- Instances with a mark, the newest first.  There are few, so they are sorted: CROSS JOIN keeps the planner from looking at
-- every instance for the sake of their order.
--
--   :room  how many at most
SELECT {past_instance i},
       EXISTS (SELECT 1 FROM workflow_instance AS p WHERE p.id = i.parent) AS is_child,
       EXISTS (SELECT 1 FROM workflow_instance AS c WHERE c.parent = i.id) AS has_children,
       0 AS is_held
  FROM workflow_purge AS g
 CROSS JOIN workflow_instance AS i ON i.id = g.id
 ORDER BY i.seq DESC
 LIMIT :room;


-- name: is_purge_begun
-- doing: look for a purge that was begun
--
--   :id  of which instance
SELECT EXISTS (SELECT 1 FROM workflow_purge WHERE id = :id);


-- name: mark_purge
-- doing: begin a purge
--
--   :id  which instance
INSERT INTO workflow_purge (id) VALUES (:id) ON CONFLICT (id) DO NOTHING;


-- part: these
-- The subjects whose rows go: a JSON array of ids.
IN (SELECT value FROM json_each(:ids))


-- name: purge_job_tags
-- doing: purge jobs
-- Those of jobs with numbers from :first to :last.
DELETE FROM workflow_tag
 WHERE (name, value, kind, seq) IN (SELECT t.key, t.atom, 'job', s.seq
                                      FROM workflow_run AS s, json_each(s.tags) AS t
                                     WHERE s.seq BETWEEN :first AND :last);


-- name: purge_jobs
-- doing: purge jobs
-- Those with numbers from :first to :last.
DELETE FROM workflow_run WHERE seq BETWEEN :first AND :last;


-- name: purge_loose
-- doing: purge events
--
--   :ids  whose
DELETE FROM workflow_event_loose WHERE workflow_id {these};


-- name: purge_posts
-- doing: purge events
--
--   :ids  whose
DELETE FROM workflow_event_post WHERE workflow_id {these};


-- name: purge_steps
-- doing: purge instances
-- The steps of an instance lie side by side, and those of instances with numbers from :first to :last, too.
DELETE FROM workflow_step WHERE id >= :first << 20 AND id < (:last + 1) << 20;


-- name: purge_marks
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_purge WHERE id {these};


-- name: purge_signals
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_signal WHERE instance_id {these};


-- name: purge_outbox
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_outbox WHERE instance_id {these};


-- name: purge_decisions
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_human_decision WHERE instance_id {these};


-- name: purge_dlq
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_dlq WHERE instance_id {these};


-- name: purge_logs
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_log WHERE instance_id {these};


-- name: purge_intake
-- doing: purge instances
-- Starts by plain SQL that found it under their key.
--
--   :ids  whose
DELETE FROM workflow_intake WHERE instance_id {these};


-- name: purge_step_children
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_step_children WHERE instance_id {these};


-- name: purge_elements
-- doing: purge instances
--
--   :ids  whose
DELETE FROM workflow_map_elements WHERE instance_id {these};


-- name: purge_instance_tags
-- doing: purge instances
-- Those of instances with numbers from :first to :last.
DELETE FROM workflow_tag
 WHERE (name, value, kind, seq) IN (SELECT t.key, t.atom, 'instance', s.seq
                                      FROM workflow_instance AS s, json_each(s.tags) AS t
                                     WHERE s.seq BETWEEN :first AND :last);


-- name: purge_instances
-- doing: purge instances
-- Those with numbers from :first to :last.
DELETE FROM workflow_instance WHERE seq BETWEEN :first AND :last;


-- name: read_log_chain
-- doing: purge events
-- What is needed to walk through a row of the log, and to mark events of it; its ids only if they are to be counted.
--
--   :id  which
SELECT l.prev, l.slots, g.used, g.gone, iif(g.used IS NULL, l.ids, NULL)
  FROM workflow_event_log AS l
  LEFT JOIN workflow_event_gone AS g ON g.log_id = l.id
 WHERE l.id = :id;


-- name: mark_log
-- doing: purge events
-- Events of a row of the log that are purged.
--
--   :id     which row
--   :used   how many it has
--   :gone   how many more are purged
--   :slots  which
INSERT INTO workflow_event_gone (log_id, used, gone, slots)
VALUES (:id, :used, :gone, :slots)
ON CONFLICT (log_id) DO UPDATE
   SET gone = gone + excluded.gone, slots = slots || excluded.slots;


-- name: rewrite_log
-- doing: purge events
-- A row of the log with nothing but what is left of it.
--
--   :id  which
UPDATE workflow_event_log AS l
   SET (ids, prev, kinds, said, slots) =
       (SELECT json_group_array(k.subject), CAST(group_concat(k.prev, '') AS BLOB),
               CAST(group_concat(printf('%04d', k.number), '') AS BLOB), json_group_array(json(k.said)),
               group_concat(k.slot, '')
          FROM (SELECT slot.value AS subject,
                       printf('%016d', coalesce(CAST(substr(l.prev, slot.key * 16 + 1, 16) AS INTEGER), 0)) AS prev,
                       json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4)
                                                                  AS INTEGER), 0) || ']') AS said,
                       iif(l.slots IS NULL, printf('%04d,', slot.key), substr(l.slots, slot.key * 5 + 1, 5)) AS slot,
                       row_number() OVER (ORDER BY slot.key) - 1 AS number
                  FROM json_each(l.ids) AS slot
                 WHERE slot.value IS NOT NULL
                   AND instr((SELECT g.slots FROM workflow_event_gone AS g WHERE g.log_id = l.id),
                             iif(l.slots IS NULL, printf('%04d,', slot.key),
                                 substr(l.slots, slot.key * 5 + 1, 5))) = 0
                 ORDER BY slot.key) AS k)
 WHERE l.id = :id;


-- name: unmark_log
-- doing: purge events
--
--   :id  which row
DELETE FROM workflow_event_gone WHERE log_id = :id;


-- name: drop_log
-- doing: purge events
--
--   :id  which row
DELETE FROM workflow_event_log WHERE id = :id;


-- name: keep_key
-- doing: keep a key
INSERT INTO workflow_key ({key.insert})
VALUES ({key.values})
ON CONFLICT (kind, workflow, key) DO UPDATE
   SET id = excluded.id, ended_at = excluded.ended_at;


-- name: drop_keys
-- doing: forget keys
--
--   :before  of owners that ended before this
--   :limit   how many at most
DELETE FROM workflow_key
 WHERE (kind, workflow, key) IN (SELECT kind, workflow, key
                                   FROM workflow_key
                                  WHERE ended_at < :before
                                  ORDER BY ended_at
                                  LIMIT :limit);


-- name: first_key
-- doing: look for old keys
-- When the first owner ended.
SELECT ended_at
  FROM workflow_key
 ORDER BY ended_at
 LIMIT 1;


-- name: find_old_bulks
-- doing: look for old bulk actions
-- There are few.
--
--   :before  those that finished before this
--   :room    how many at most
SELECT id
  FROM workflow_bulk
 WHERE finished_at < :before
 ORDER BY seq
 LIMIT :room;


-- name: purge_bulks
-- doing: purge bulk actions
--
--   :ids  which
DELETE FROM workflow_bulk WHERE id {these};
