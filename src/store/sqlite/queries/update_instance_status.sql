-- update_instance_status: writes the status of an instance.
--
--   :status  what it is now
--   :id      which
--
-- Apart from the rest, since most changes leave the status as it is, and then its indexes need
-- not be written.

UPDATE workflow_instance
   SET status = :status
 WHERE id = :id
   AND status <> :status;
