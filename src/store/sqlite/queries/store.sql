-- name: begin_write
-- doing: begin to write
BEGIN IMMEDIATE;


-- name: begin_read
-- doing: begin to read
BEGIN;


-- name: commit
COMMIT;


-- name: schema_version
-- doing: read the version of the schema
-- Changes with every change of a table, index or trigger.
PRAGMA schema_version;


-- name: count_other_triggers
-- doing: look for triggers
-- Triggers on our tables that no migration has made.
SELECT count(*)
  FROM sqlite_schema
 WHERE type = 'trigger'
   AND tbl_name LIKE 'workflow%'
   AND name NOT IN ('workflow_run_tags_insert', 'workflow_run_tags_delete', 'workflow_run_tags_update',
                    'workflow_run_kept_key', 'workflow_run_group_insert', 'workflow_run_group_update',
                    'workflow_instance_tags_insert', 'workflow_instance_tags_delete',
                    'workflow_instance_kept_key', 'workflow_intake_before_insert',
                    'workflow_event_insert');


-- name: data_version
-- doing: read the data version
-- Changes when another connection has committed.
PRAGMA data_version;
