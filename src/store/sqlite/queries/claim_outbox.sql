-- claim_outbox: gives an event to whoever delivers it.
--
--   :id      which
--   :worker  to whom
--   :until   for how long

UPDATE workflow_outbox
   SET claimed_by    = :worker,
       claimed_until = :until
 WHERE id = :id;
