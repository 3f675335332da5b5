-- 0016_workers: what processes have seen of workers.  A row is written by its own process alone.
-- locks: none; the table is new

CREATE TABLE workflow.workflow_worker (
    name       text COLLATE "C" NOT NULL,
    process    text COLLATE "C" NOT NULL,
    types      jsonb NOT NULL,
    runtime    text,
    places     integer NOT NULL,
    first_seen timestamptz NOT NULL,
    last_seen  timestamptz NOT NULL,
    PRIMARY KEY (name, process)
);
