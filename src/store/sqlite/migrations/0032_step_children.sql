-- 0032_step_children: steps of workflows have children.

ALTER TABLE workflow_instance ADD COLUMN parent_seq INTEGER;
ALTER TABLE workflow_instance ADD COLUMN parent_round INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN element INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN own_child_count INTEGER NOT NULL DEFAULT 0;

-- Those that have not ended.
CREATE INDEX idx_workflow_instance_living ON workflow_instance (parent)
 WHERE parent IS NOT NULL AND finished_at IS NULL;

CREATE TABLE workflow_step_children (
    instance_id    TEXT NOT NULL,
    seq            INTEGER NOT NULL,
    round          INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    begun          INTEGER NOT NULL CHECK (begun BETWEEN 0 AND size),
    living         INTEGER NOT NULL CHECK (living BETWEEN 0 AND begun),
    done           INTEGER NOT NULL CHECK (done >= 0),
    failed         INTEGER NOT NULL CHECK (failed >= 0),
    bytes          INTEGER NOT NULL,
    is_ending      INTEGER NOT NULL CHECK (is_ending IN (0, 1)),
    undo_below     INTEGER NOT NULL,
    is_undo_failed INTEGER NOT NULL CHECK (is_undo_failed IN (0, 1)),
    error          TEXT,
    PRIMARY KEY (instance_id, seq)
) STRICT, WITHOUT ROWID;
