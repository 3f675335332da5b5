-- 0010_children: an instance that another one waits for.

ALTER TABLE workflow_instance ADD COLUMN parent TEXT;
ALTER TABLE workflow_instance ADD COLUMN parent_event TEXT;
ALTER TABLE workflow_instance ADD COLUMN child_count INTEGER NOT NULL DEFAULT 0
      CHECK (child_count >= 0);
ALTER TABLE workflow_instance ADD COLUMN is_telling INTEGER NOT NULL DEFAULT 0
      CHECK (is_telling IN (0, 1));
ALTER TABLE workflow_instance ADD COLUMN is_told INTEGER NOT NULL DEFAULT 0
      CHECK (is_told IN (0, 1));

CREATE INDEX idx_workflow_instance_parent ON workflow_instance (parent)
 WHERE parent IS NOT NULL;

-- Whose relatives are to be told.
CREATE INDEX idx_workflow_instance_telling ON workflow_instance (is_telling)
 WHERE is_telling = 1;
