-- get_definition: a version of a definition.
--
--   :name     which
--   :version  of it
--
-- One row or none.

SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE name = :name
   AND version = :version;
