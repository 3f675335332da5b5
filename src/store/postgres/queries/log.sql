-- name: append_logs
-- doing: write logs
-- Lines that functions have logged, in the order given.
--
--   $1..  an array for each column; last the time of the transaction
INSERT INTO workflow.workflow_log
       ({log.insert})
SELECT {log.values}
  FROM (SELECT {log.arrays insert}) AS given


-- name: list_logs
-- What an instance has logged, oldest first.
--
--   $1  instance
--   $2  only rows after this id
--   $3  how many at most
SELECT {log.columns l}
  FROM workflow.workflow_log AS l
 WHERE l.instance_id = $1::uuid
   AND l.id > $2::bigint
 ORDER BY l.id
 LIMIT $3::bigint
