-- 0032_step_children: steps of workflows have children.
-- locks: workflow_instance for a moment; two indexes of it are built before, while work goes on

ALTER TABLE workflow.workflow_instance
    ADD COLUMN parent_seq   integer,
    ADD COLUMN parent_round integer NOT NULL DEFAULT 0,
    ADD COLUMN element      integer NOT NULL DEFAULT 0,
    ADD COLUMN depth        integer NOT NULL DEFAULT 0,
    ADD COLUMN own_child_count integer NOT NULL DEFAULT 0;

-- In order: an index of SQLite always has the number.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_instance_parent_next ON workflow.workflow_instance (parent, seq)
    WHERE parent IS NOT NULL;
DROP INDEX workflow.idx_workflow_instance_parent;
ALTER INDEX workflow.idx_workflow_instance_parent_next RENAME TO idx_workflow_instance_parent;

-- Those that have not ended.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_instance_living ON workflow.workflow_instance (parent, seq)
    WHERE parent IS NOT NULL AND finished_at IS NULL;

CREATE TABLE workflow.workflow_step_children (
    instance_id    uuid NOT NULL,
    seq            integer NOT NULL,
    round          integer NOT NULL,
    size           integer NOT NULL,
    begun          integer NOT NULL CHECK (begun BETWEEN 0 AND size),
    living         integer NOT NULL CHECK (living BETWEEN 0 AND begun),
    done           integer NOT NULL CHECK (done >= 0),
    failed         integer NOT NULL CHECK (failed >= 0),
    bytes          bigint NOT NULL,
    is_ending      boolean NOT NULL,
    undo_below     bigint NOT NULL,
    is_undo_failed boolean NOT NULL,
    error          text,
    PRIMARY KEY (instance_id, seq)
);
