-- 0022_totals: what processes have counted since they began; those of processes that are gone are one.
-- locks: none; the table is new

CREATE TABLE workflow.workflow_total (
    process    text COLLATE "C" NOT NULL,
    kind       integer NOT NULL,
    name       text COLLATE "C" NOT NULL,
    first_at   timestamptz NOT NULL,
    written_at timestamptz NOT NULL,
    counts     text NOT NULL,
    took       text NOT NULL,
    took_us    bigint NOT NULL,
    waited     text NOT NULL,
    waited_us  bigint NOT NULL,
    PRIMARY KEY (process, kind, name)
);
