-- 0016_workers: what processes have seen of workers.

CREATE TABLE workflow_worker (
    name       TEXT NOT NULL,
    process    TEXT NOT NULL,
    types      TEXT NOT NULL,
    runtime    TEXT,
    places     INTEGER NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    PRIMARY KEY (name, process)
) STRICT, WITHOUT ROWID;
