-- name: put_definition
-- doing: keep a definition
-- A definition, unless its name and version are known.
--
-- sqlite3_changes() says whether it was inserted.
INSERT INTO workflow_definition ({definition.insert})
VALUES ({definition.values})
ON CONFLICT (name, version) DO NOTHING;


-- name: get_definition
-- doing: read a definition
-- A version of a definition.
--
--   :name     which
--   :version  of it
--
-- One row or none.
SELECT {definition.columns}
  FROM workflow_definition
 WHERE name = :name
   AND version = :version;


-- name: get_latest_definition
-- doing: read a definition
-- The highest version of a definition.
--
--   :name  which
--
-- One row or none.
SELECT {definition.columns}
  FROM workflow_definition
 WHERE name = :name
 ORDER BY version DESC
 LIMIT 1;


-- name: list_definitions
-- Definitions in order of name and version.
--
--   :after_name, :after_version  those after this one
--   :room                        how many at most
SELECT {definition.columns}
  FROM workflow_definition
 WHERE (name, version) > (:after_name, :after_version)
 ORDER BY name, version
 LIMIT :room;
