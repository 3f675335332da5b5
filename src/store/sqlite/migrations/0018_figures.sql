-- 0018_figures: how much happened, by type and time; a row is written by one process alone.

CREATE TABLE workflow_figure (
    type       TEXT NOT NULL,
    resolution INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    process    TEXT NOT NULL,
    started    INTEGER NOT NULL,
    completed  INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    tasks      INTEGER NOT NULL,
    retried    INTEGER NOT NULL,
    took       TEXT NOT NULL,
    waited     TEXT NOT NULL,
    PRIMARY KEY (type, resolution, at, process)
) STRICT, WITHOUT ROWID;

-- What is old enough to become a row of a longer time.
CREATE INDEX idx_workflow_figure_at ON workflow_figure (resolution, at);
