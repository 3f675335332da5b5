-- untake_signals: gives back all signals of an instance.
--
--   $1  instance

UPDATE workflow.workflow_signal AS g
   SET taken_by = NULL
 WHERE g.instance_id = $1::uuid
   AND g.taken_by IS NOT NULL
