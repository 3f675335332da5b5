-- put_definition: a new definition; one that stands under this name and version stays.
--
--   $1..$5  name, version, hash, content, created_at

INSERT INTO workflow.workflow_definition (name, version, hash, content, created_at)
VALUES ($1::text, $2::int, $3::text, $4::json, $5::timestamptz)
ON CONFLICT DO NOTHING
RETURNING version
