-- get_latest_definition: the highest version of a definition.
--
--   :name  which
--
-- One row or none.

SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE name = :name
 ORDER BY version DESC
 LIMIT 1;
