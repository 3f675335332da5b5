-- find_existing: what stands in the way of rows that could not be inserted.
--
--   $1, $2  their ids and keys
--
-- Ordinal, whether the id itself is there, and the id of the job that has the key.

SELECT given.ordinal,
       EXISTS (SELECT FROM workflow.workflow_run WHERE id = given.id),
       (SELECT id::text FROM workflow.workflow_run WHERE idempotency_key = given.key)
  FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS given (id, key, ordinal)
