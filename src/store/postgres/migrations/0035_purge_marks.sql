-- 0035_purge_marks: instances whose descendants are being purged.
-- locks: none; the table is new

CREATE TABLE workflow.workflow_purge (
    id uuid PRIMARY KEY
);
