-- mark_signal: says which step has taken a signal.
--
--   $1  instance
--   $2  the signal's seq
--   $3  the step's place; NULL: none

UPDATE workflow.workflow_signal AS g
   SET taken_by = $3::int
 WHERE g.instance_id = $1::uuid
   AND g.seq = $2::bigint
