-- 0045_waiters: which engines wait for ends in other processes.
-- oldest: 0036
-- locks: nothing
--
-- A row is an engine that has callers who wait; what it is written for ends with `until`.  A commit that ends
-- something looks here, and tells only if somebody else waits.  It is not needed after a crash.

CREATE UNLOGGED TABLE workflow.workflow_waiter (
    engine text COLLATE "C" PRIMARY KEY,
    until  timestamptz NOT NULL
);
