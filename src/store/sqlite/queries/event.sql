-- name: number_events
-- doing: append events
-- The number that the next row of workflow_event_log may have.
SELECT 1 + coalesce(max(iif(name = 'workflow_event_log', seq, seq >> 12)), 0)
  FROM sqlite_sequence
 WHERE name IN ('workflow_event_log', 'workflow_event_loose');


-- name: append_event_log
-- doing: append events
-- The events of a commit; see 0011_event_log for the columns.
INSERT INTO workflow_event_log (id, at, kinds, prev, said, ids)
VALUES (:id, :now, :kinds, :prev, :said, :ids);


-- name: append_post
-- doing: append events
-- Marks an event at which a walk along its subject's chain may begin.
INSERT INTO workflow_event_post (workflow_id, event_id)
VALUES (:workflow_id, :id);


-- name: append_loose
-- doing: append events
-- An event that is in no chain.
INSERT INTO workflow_event_loose (id, {event.insert})
VALUES (:id, {event.values});


-- name: first_event
-- doing: list events
-- Where a walk backwards along a chain begins that brings the events after one, oldest first: at a post behind the
-- last of the wanted events, or at the newest.
--
--   :instance_id  whose
--   :after        events later than the one with this id
--   :room         how many at most
SELECT coalesce((SELECT event_id
                   FROM workflow_event_post
                  WHERE workflow_id = :instance_id
                    AND event_id > :after
                  ORDER BY event_id
                  LIMIT 1 OFFSET (:room + 99) / 100), last_event)
  FROM (SELECT last_event FROM workflow_run WHERE id = :instance_id
         UNION ALL
        SELECT last_event FROM workflow_instance WHERE id = :instance_id);


-- name: first_event_before
-- doing: list events
-- The same for the events before one, newest first: at the first post that is not before it, or at the newest event;
-- so at most 100 events are passed over.
--
--   :instance_id  whose
--   :before       events earlier than the one with this id
SELECT coalesce((SELECT event_id
                   FROM workflow_event_post
                  WHERE workflow_id = :instance_id
                    AND event_id >= :before
                  ORDER BY event_id
                  LIMIT 1), last_event)
  FROM (SELECT last_event FROM workflow_run WHERE id = :instance_id
         UNION ALL
        SELECT last_event FROM workflow_instance WHERE id = :instance_id);


-- name: event_links
-- doing: list events
-- The links of all chains that pass through a row of the log.
--
--   :id  of the row
SELECT prev, kinds, slots FROM workflow_event_log WHERE id = :id;


-- name: event_said
-- doing: list events
-- What the events of a row of the log say.
--
--   :id  of the row
SELECT at, said FROM workflow_event_log WHERE id = :id;


-- name: list_loose
-- doing: list events
-- Events of one job or instance that are in no chain, oldest first.
--
--   :instance_id  whose
--   :after        events later than the one with this id
--   :room         how many at most
SELECT {event.columns}
  FROM workflow_event_loose
 WHERE workflow_id = :instance_id
   AND id > :after
 ORDER BY id
 LIMIT :room;


-- name: list_loose_before
-- doing: list events
-- The same, newest first.
--
--   :instance_id  whose
--   :before       events earlier than the one with this id
--   :room         how many at most
SELECT {event.columns}
  FROM workflow_event_loose
 WHERE workflow_id = :instance_id
   AND id < :before
 ORDER BY id DESC
 LIMIT :room;


-- name: list_all_events
-- doing: list events
-- The history of all instances and jobs, oldest first.
--
--   :after  events later than the one with this id
--   :room   how many at most
--
-- With a single writer ids become visible in their order.  A row of workflow_event_log has one event at least that is
-- not purged; its slots are read in their order, and no further than there is room.
SELECT *
  FROM (SELECT l.id << 12 | iif(l.slots IS NULL, slot.key,
                                CAST(substr(l.slots, slot.key * 5 + 1, 4) AS INTEGER)) AS id,
               slot.value AS workflow_id,
               json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0)
                                         || '][0]') AS event_type,
               json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0)
                                         || '][1]') AS step,
               json_extract(l.said, '$[' || coalesce(CAST(substr(l.kinds, slot.key * 4 + 1, 4) AS INTEGER), 0)
                                         || '][2]') AS data,
               l.at AS created_at
          FROM (SELECT o.*, g.slots AS gone
                  FROM workflow_event_log AS o
                  LEFT JOIN workflow_event_gone AS g ON g.log_id = o.id
                 WHERE o.id >= :after >> 12
                 ORDER BY o.id
                 LIMIT :room + 1) AS l
         CROSS JOIN json_each(l.ids) AS slot
         WHERE slot.value IS NOT NULL
           AND l.id << 12 | iif(l.slots IS NULL, slot.key,
                                CAST(substr(l.slots, slot.key * 5 + 1, 4) AS INTEGER)) > :after
           AND (l.gone IS NULL
                OR instr(l.gone, iif(l.slots IS NULL, printf('%04d,', slot.key),
                                     substr(l.slots, slot.key * 5 + 1, 5))) = 0)
         LIMIT :room)
 UNION ALL
SELECT *
  FROM (SELECT {event.columns}
          FROM workflow_event_loose
         WHERE id > :after
         ORDER BY id
         LIMIT :room)
 ORDER BY id
 LIMIT :room;
