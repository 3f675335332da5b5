-- put_definition: a definition, unless its name and version are known.
--
--   one parameter for each column; see the table
--
-- sqlite3_changes() says whether it was inserted.

INSERT INTO workflow_definition (name, version, hash, created_at, content)
VALUES (:name, :version, :hash, :created_at, :content)
ON CONFLICT (name, version) DO NOTHING;
