-- append_outbox: one event for others to hear of.
--
--   one parameter for each column; see the table

INSERT INTO workflow_outbox (instance_id, step, event, created_at, claimed_by, claimed_until,
                             payload)
VALUES (:instance_id, :step, :event, :created_at, :claimed_by, :claimed_until,
        :payload);
