-- name: put_definition
-- doing: write a definition
-- A new definition, unless this name and version exist.
--
--   $1..  an array for each column
--
-- Returns its version; no row if it exists.
INSERT INTO workflow.workflow_definition
       ({definition.insert})
SELECT {definition.values}
  FROM (SELECT {definition.arrays insert}) AS given
ON CONFLICT DO NOTHING
RETURNING version


-- name: get_definition
-- doing: read a definition
-- One version, or the highest.
--
--   $1  name
--   $2  version; 0: the highest
SELECT {definition.columns d}
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
SELECT {definition.columns d}
  FROM workflow.workflow_definition AS d
 WHERE (d.name, d.version) > ($1::text, $2::int)
 ORDER BY d.name, d.version
 LIMIT $3::bigint
