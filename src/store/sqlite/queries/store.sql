-- name: begin_write
-- doing: begin to write
BEGIN IMMEDIATE;


-- name: begin_read
-- doing: begin to read
BEGIN;


-- name: commit
COMMIT;


-- name: data_version
-- doing: read the data version
-- Changes when another connection has committed.
PRAGMA data_version;
