-- delete_steps: removes steps that this transaction has locked.
--
--   $1, $2  their instances and places

DELETE FROM workflow.workflow_step AS s
 USING unnest($1::uuid[], $2::int[]) AS given (instance_id, seq)
 WHERE s.instance_id = given.instance_id
   AND s.seq = given.seq
