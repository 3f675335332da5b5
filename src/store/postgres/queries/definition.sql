-- name: put_definition
-- doing: write a definition
-- A new definition; one that stands under this name and version stays.
--
--   $1..$5  name, version, hash, content, created_at
INSERT INTO workflow.workflow_definition (name, version, hash, content, created_at)
VALUES ($1::text, $2::int, $3::text, $4::json, $5::timestamptz)
ON CONFLICT DO NOTHING
RETURNING version


-- name: get_definition
-- doing: read a definition
-- One version, or the highest.
--
--   $1  name
--   $2  version; 0: the highest
SELECT d.name, d.version, d.hash, d.content::text, d.created_at
  FROM workflow.workflow_definition AS d
 WHERE d.name = $1::text
   AND ($2::int = 0 OR d.version = $2::int)
 ORDER BY d.version DESC
 LIMIT 1


-- name: list_definitions
-- In order of name, then version.
--
--   $1, $2  only those after this name and version
--   $3      how many at most
SELECT d.name, d.version, d.hash, d.content::text, d.created_at
  FROM workflow.workflow_definition AS d
 WHERE (d.name, d.version) > ($1::text, $2::int)
 ORDER BY d.name, d.version
 LIMIT $3::bigint
