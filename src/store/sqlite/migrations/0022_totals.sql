-- 0022_totals: what processes have counted since they began; those of processes that are gone are one.

CREATE TABLE workflow_total (
    process    TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    name       TEXT NOT NULL,
    first_at   INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    counts     TEXT NOT NULL,
    took       TEXT NOT NULL,
    took_us    INTEGER NOT NULL,
    waited     TEXT NOT NULL,
    waited_us  INTEGER NOT NULL,
    PRIMARY KEY (process, kind, name)
) STRICT, WITHOUT ROWID;
