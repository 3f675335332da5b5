-- 0026_schedules: what starts by itself, and what became of each time.  Nothing here reads or rewrites a table that
-- is there.
-- locks: workflow_run and workflow_instance for a moment

CREATE TABLE workflow.workflow_schedule (
    name       text COLLATE "C" PRIMARY KEY,
    id         uuid NOT NULL UNIQUE,
    cron       text,
    every_ms   bigint NOT NULL,
    timezone   text NOT NULL,
    workflow   text,
    task       text,
    version    integer NOT NULL,
    input      json,
    overlap    text NOT NULL CHECK (overlap IN ('skip', 'allow', 'queue', 'cancel')),
    catch_up   text NOT NULL CHECK (catch_up IN ('none', 'last', 'all')),
    is_paused  boolean NOT NULL,
    anchor_at  timestamptz NOT NULL,
    next_at    timestamptz,
    due_at     timestamptz CHECK (due_at IS NULL OR NOT is_paused),
    waiting_at timestamptz,
    last_at    timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((cron IS NULL) = (every_ms > 0)),
    CHECK ((workflow IS NULL) <> (task IS NULL))
);

CREATE INDEX idx_workflow_schedule_due ON workflow.workflow_schedule (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX idx_workflow_schedule_waiting ON workflow.workflow_schedule (waiting_at)
 WHERE waiting_at IS NOT NULL AND NOT is_paused;

CREATE TABLE workflow.workflow_schedule_run (
    schedule text COLLATE "C" NOT NULL,
    at       timestamptz NOT NULL,
    run_id   uuid,
    is_job   boolean NOT NULL,
    is_open  boolean NOT NULL,
    error    text,
    status   text NOT NULL,
    PRIMARY KEY (schedule, at)
);

CREATE INDEX idx_workflow_schedule_run_open ON workflow.workflow_schedule_run (schedule, at) WHERE is_open;

ALTER TABLE workflow.workflow_run ADD COLUMN schedule text;
ALTER TABLE workflow.workflow_instance ADD COLUMN schedule text;
