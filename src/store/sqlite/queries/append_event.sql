-- append_event: one line of the audit trail.
--
--   whose, its type, the step (or NULL), data, when

INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at)
VALUES (?, ?, ?, ?, ?);
