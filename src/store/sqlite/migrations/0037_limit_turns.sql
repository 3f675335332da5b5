-- 0037_limit_turns: which group was served last, for all processes; starts by plain SQL have a group.
-- oldest: 0036

CREATE TABLE workflow_limit_turn (
    number  INTEGER PRIMARY KEY,
    "group" TEXT    NOT NULL
);
