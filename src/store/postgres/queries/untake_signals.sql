-- untake_signals: gives back the signals that a step has taken, or all of the instance's.
--
--   $1  instance
--   $2  the step's place; NULL: all

UPDATE workflow.workflow_signal AS g
   SET taken_by = NULL
 WHERE g.instance_id = $1::uuid
   AND g.taken_by IS NOT NULL
   AND ($2::int IS NULL OR g.taken_by = $2::int)
