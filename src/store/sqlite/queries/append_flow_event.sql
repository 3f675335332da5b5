-- append_flow_event: one line of the audit trail, of an instance or one of its steps.
--
--   :instance_id, :type, :step, :data, :now

INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at)
VALUES (:instance_id, :type, :step, :data, :now);
