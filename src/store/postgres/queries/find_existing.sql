-- find_existing: what stands in the way of rows that could not be inserted.
--
--   $1, $2  their ids and keys
--
-- Ordinal, whether this very row is there, and the id of the job that has the key.

SELECT given.ordinal,
       EXISTS (SELECT
                 FROM workflow.workflow_run AS r
                WHERE r.id = given.id
                  AND r.idempotency_key IS NOT DISTINCT FROM given.key),
       (SELECT id::text FROM workflow.workflow_run WHERE idempotency_key = given.key)
  FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS given (id, key, ordinal)
