-- find_existing_instances: what stands in the way of rows that could not be inserted.
--
--   $1, $2, $3  their ids, workflows and keys
--
-- Ordinal, seq of this very row if it is there, and id and seq of the instance that has the key.

SELECT given.ordinal, again.seq, other.id::text, other.seq
  FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY
       AS given (id, workflow, key, ordinal)
  LEFT JOIN workflow.workflow_instance AS again ON again.id = given.id
  LEFT JOIN workflow.workflow_instance AS other
         ON other.key = given.key AND other.workflow = given.workflow
