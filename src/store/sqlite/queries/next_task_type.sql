-- next_task_type: the first type in a range that has a step to claim.
--
--   :from   this type or a greater one
--   :below  but less than this; a BLOB is greater than every text
--
-- One row, the type; or none.  One probe of idx_workflow_step_ready.

SELECT task_type
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type >= :from
   AND task_type < :below
 ORDER BY task_type
 LIMIT 1;
