-- name: find_keys
-- doing: find the owners of keys
-- Who has these keys.
--
--   $1..  an array for each column
--
-- A row for each: its number from 1 on, the owner's id, and when the owner ended if it was purged; the key is free if
-- both are NULL.  Questions of their own, so that each is a probe of an index.
SELECT given.ordinal, coalesce(given.owner, kept.id)::text, CASE WHEN given.owner IS NULL THEN kept.ended_at END
  FROM (SELECT g.ordinal, g.kind, g.workflow, g.key,
               CASE g.kind
                    WHEN 'job' THEN (SELECT r.id
                                       FROM workflow.workflow_run AS r
                                      WHERE r.idempotency_key = g.key)
                    ELSE (SELECT i.id
                            FROM workflow.workflow_instance AS i
                           WHERE i.key = g.key AND i.workflow = g.workflow)
               END AS owner
          FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY
               AS g (kind, workflow, key, ordinal)) AS given
  LEFT JOIN LATERAL (SELECT k.id, k.ended_at
                       FROM workflow.workflow_key AS k
                      WHERE k.key = given.key AND k.workflow = given.workflow AND k.kind = given.kind
                      LIMIT 1) AS kept ON true
 ORDER BY given.ordinal


-- name: free_keys
-- Takes keys from their owners.
--
--   $1..  an array for each column
WITH given AS MATERIALIZED (
    SELECT {key.arrays insert}
), jobs AS (
    UPDATE workflow.workflow_run AS r
       SET idempotency_key = NULL
      FROM given
     WHERE given.kind = 'job' AND r.idempotency_key = given.key
), instances AS (
    UPDATE workflow.workflow_instance AS i
       SET key = NULL
      FROM given
     WHERE given.kind = 'instance' AND i.key = given.key AND i.workflow = given.workflow
)
DELETE FROM workflow.workflow_key AS k
 USING given
 WHERE k.key = given.key AND k.workflow = given.workflow AND k.kind = given.kind
