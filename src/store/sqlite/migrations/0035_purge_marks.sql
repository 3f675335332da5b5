-- 0035_purge_marks: instances whose descendants are being purged.

CREATE TABLE workflow_purge (
    id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
