-- 0033_maps: the lists that maps run over.

CREATE TABLE workflow_map_elements (
    instance_id TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    round       INTEGER NOT NULL,
    first       INTEGER NOT NULL,
    items       TEXT NOT NULL,
    PRIMARY KEY (instance_id, seq, round, first)
) STRICT, WITHOUT ROWID;
