-- insert_signal: one signal, unless its id is known for this instance.
--
--   one parameter for each column; see the table
--
-- sqlite3_changes() says whether it was inserted.

INSERT INTO workflow_signal (instance_id, id, event, received_at, taken_by, was_taken,
                             payload)
VALUES (:instance_id, :id, :event, :received_at, :taken_by, 0, :payload)
ON CONFLICT (instance_id, id) DO NOTHING;
