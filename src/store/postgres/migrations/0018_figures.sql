-- 0018_figures: how much happened, by type and time; a row is written by one process alone.
-- locks: none; the table is new

CREATE TABLE workflow.workflow_figure (
    type       text COLLATE "C" NOT NULL,
    resolution integer NOT NULL,
    at         timestamptz NOT NULL,
    process    text COLLATE "C" NOT NULL,
    started    bigint NOT NULL,
    completed  bigint NOT NULL,
    failed     bigint NOT NULL,
    tasks      bigint NOT NULL,
    retried    bigint NOT NULL,
    took       text NOT NULL,
    waited     text NOT NULL,
    PRIMARY KEY (type, resolution, at, process)
);

-- What is old enough to become a row of a longer time.
CREATE INDEX idx_workflow_figure_at ON workflow.workflow_figure (resolution, at);
