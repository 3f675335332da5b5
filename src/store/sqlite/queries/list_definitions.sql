-- list_definitions: definitions in order of name and version.
--
--   :after_name, :after_version  those after this one
--   :room                        how many at most

SELECT name, version, hash, created_at, content
  FROM workflow_definition
 WHERE (name, version) > (:after_name, :after_version)
 ORDER BY name, version
 LIMIT :room;
