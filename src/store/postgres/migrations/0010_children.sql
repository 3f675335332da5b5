-- 0010_children: an instance that another one waits for.
-- locks: workflow_instance while it is read once, under a second for a million instances
--
-- The defaults stand in the catalogue; the indexes are empty, and reading the table for them is all
-- that this costs.

ALTER TABLE workflow.workflow_instance
    ADD COLUMN parent       uuid,
    ADD COLUMN parent_event text,
    ADD COLUMN child_count  integer NOT NULL DEFAULT 0,
    ADD COLUMN is_telling   boolean NOT NULL DEFAULT false,
    ADD COLUMN is_told      boolean NOT NULL DEFAULT false;

CREATE INDEX idx_workflow_instance_parent ON workflow.workflow_instance (parent)
    WHERE parent IS NOT NULL;

-- Whose relatives are to be told.
CREATE INDEX idx_workflow_instance_telling ON workflow.workflow_instance (seq)
    WHERE is_telling;
