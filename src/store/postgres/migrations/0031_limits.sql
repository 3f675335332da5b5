-- 0031_limits: limits of tasks (docs/decisions/0023), and groups that take turns.
-- locks: workflow_run for a moment; two indexes of it are built before, while work goes on

-- first: columns that the indexes need
ALTER TABLE workflow.workflow_run
    ADD COLUMN IF NOT EXISTS "group" text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS is_counted boolean NOT NULL DEFAULT false;
-- then:

ALTER TABLE workflow.workflow_run
    ADD CONSTRAINT workflow_run_group_check CHECK (octet_length("group") <= 128) NOT VALID;

-- As before, with the group in front of the order within it.  A claim of types without limits and groups
-- reads the part of the group ''.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_run_type_prefix_next
    ON workflow.workflow_run (type text_pattern_ops, is_ready, "group", priority, (seq >> 8))
    WHERE status = 'pending' AND deleted_at IS NULL;
DROP INDEX workflow.idx_workflow_run_type_prefix;
ALTER INDEX workflow.idx_workflow_run_type_prefix_next RENAME TO idx_workflow_run_type_prefix;

-- The leases that limits count: as few as are leased now.
CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_workflow_run_counted ON workflow.workflow_run (type text_pattern_ops, "group")
    WHERE status = 'leased' AND is_counted;

CREATE TABLE workflow.workflow_limit (
    name         text COLLATE "C" PRIMARY KEY,
    types        text        NOT NULL,
    concurrency  integer     NOT NULL CHECK (concurrency >= 0),
    rate_n       integer     NOT NULL CHECK (rate_n >= 0),
    rate_per_ms  bigint      NOT NULL CHECK (rate_per_ms >= 0),
    is_per_group boolean     NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);

-- What of a rate is spent; a row that is not there is a full bucket.
CREATE TABLE workflow.workflow_limit_bucket (
    limit_name text COLLATE "C" NOT NULL,
    "group"    text COLLATE "C" NOT NULL,
    level      bigint      NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (limit_name, "group")
);

-- Who counts for a limit holds this row until it has committed.
CREATE TABLE workflow.workflow_limit_gate (
    id integer PRIMARY KEY
);
INSERT INTO workflow.workflow_limit_gate VALUES (1);

-- Types that have had a task with a group.
CREATE TABLE workflow.workflow_group_type (
    type text COLLATE "C" PRIMARY KEY
);

-- A pattern is a type, or a prefix that ends in %.
CREATE FUNCTION workflow.type_matches(type text, pattern text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN right(pattern, 1) = '%' THEN starts_with(type, left(pattern, -1))
                ELSE type = pattern END
$body$;

-- Writes that are not the engine's: leases count, and groups are known.
CREATE FUNCTION workflow.run_group_foreign_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    IF NEW.status = 'leased' THEN
        NEW.is_counted := true;
    END IF;
    IF NEW."group" <> '' THEN
        INSERT INTO workflow.workflow_group_type (type) VALUES (NEW.type) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NEW;
END
$body$;

CREATE TRIGGER run_group_foreign_write
    BEFORE INSERT OR UPDATE ON workflow.workflow_run FOR EACH ROW
    WHEN (current_setting('cairn.engine', true) IS DISTINCT FROM '1')
    EXECUTE FUNCTION workflow.run_group_foreign_write();
