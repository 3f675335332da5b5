-- name: put_definition
-- A definition, unless its name and version are known.
--
--   one parameter for each column; see the table
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_definition (name, version, hash, created_at, content)
VALUES (:name, :version, :hash, :created_at, :content)
ON CONFLICT (name, version) DO NOTHING;


-- name: get_definition
-- A version of a definition.
--
--   :name     which
--   :version  of it
--
-- One row or none.
SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE name = :name
   AND version = :version;


-- name: get_latest_definition
-- The highest version of a definition.
--
--   :name  which
--
-- One row or none.
SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE name = :name
 ORDER BY version DESC
 LIMIT 1;


-- name: list_definitions
-- Definitions in order of name and version.
--
--   :after_name, :after_version  those after this one
--   :room                        how many at most
SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE (name, version) > (:after_name, :after_version)
 ORDER BY name, version
 LIMIT :room;
