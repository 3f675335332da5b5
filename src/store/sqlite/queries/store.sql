-- name: begin_write
-- doing: begin a transaction
BEGIN IMMEDIATE;


-- name: begin_read
-- doing: begin a transaction
BEGIN;


-- name: commit
COMMIT;


-- name: data_version
-- doing: read the data version
-- Changes when another connection has committed.
PRAGMA data_version;
