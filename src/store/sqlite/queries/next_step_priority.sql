-- next_step_priority: the highest priority below another that has a step of a type to claim.
--
--   :type     which
--   :below    a lower priority than this
--   :runtime  who asks; NULL: any runtime
--
-- One row, the priority; or none, also if the registry disables the type or gives it to another
-- runtime.  One probe of idx_workflow_step_ready.

SELECT priority
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = iif(EXISTS (SELECT 1
                                 FROM workflow_registry
                                WHERE workflow_name = :type
                                  AND (is_enabled = 0 OR runtime <> :runtime)),
                       NULL, :type)
   AND priority < :below
 ORDER BY priority DESC
 LIMIT 1;
