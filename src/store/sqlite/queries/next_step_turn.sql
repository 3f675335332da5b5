-- next_step_turn: the next pair of version and priority that has a step of a type to claim, the
-- highest first.
--
--   :type                which
--   :version, :priority  of this version at most this priority, or of a lower version any
--   :from_version        but not a version below this
--   :runtime             who asks; NULL: any runtime
--
-- One row (version, priority); or none, also if the registry disables the type or gives it to
-- another runtime.  One probe of idx_workflow_step_ready: with < in place of <= it would walk
-- all steps of the pair before.

SELECT version, priority
  FROM workflow_step INDEXED BY idx_workflow_step_ready
 WHERE is_ready = 1
   AND task_type = iif(EXISTS (SELECT 1
                                 FROM workflow_registry
                                WHERE workflow_name = :type
                                  AND (is_enabled = 0 OR runtime <> :runtime)),
                       NULL, :type)
   AND (version, priority) <= (:version, :priority)
   AND version >= :from_version
 ORDER BY version DESC, priority DESC
 LIMIT 1;
