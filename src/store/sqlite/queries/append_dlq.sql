-- append_dlq: one record of a failed step.
--
--   one parameter for each column; see the table

INSERT INTO workflow_dlq (instance_id, workflow, version, step_seq, step_name, step_type,
                          reason, created_at, is_open, error, input)
VALUES (:instance_id, :workflow, :version, :step_seq, :step_name, :step_type,
        :reason, :created_at, :is_open, :error, :input);
