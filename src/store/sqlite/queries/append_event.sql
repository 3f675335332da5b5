-- append_event: one line of the audit trail.
--
--   :job_id, :type, :data, :now

INSERT INTO workflow_event (workflow_id, event_type, data, created_at)
VALUES (:job_id, :type, :data, :now);
