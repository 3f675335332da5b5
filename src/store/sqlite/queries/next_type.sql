-- next_type: the first type in a range that has something to claim.
--
--   :from   this type or a greater one
--   :below  but less than this; a BLOB is greater than every text
--
-- One row, the type; or none.  One probe of idx_workflow_run_claim.

SELECT type
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type >= :from
   AND type < :below
 ORDER BY type
 LIMIT 1;
