-- 0033_maps: the lists that maps run over.
-- locks: none; the table is new

CREATE TABLE workflow.workflow_map_elements (
    instance_id uuid NOT NULL,
    seq         integer NOT NULL,
    round       integer NOT NULL,
    first       integer NOT NULL,
    items       json NOT NULL,
    PRIMARY KEY (instance_id, seq, round, first)
);
