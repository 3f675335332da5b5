-- claim_heads: what of one type would be claimed next, best first.
--
--   :type     which
--   :runtime  who asks; NULL: any runtime
--   :room     how many at most
--
-- Rows (priority, seq); none if the registry disables the type or gives it to another runtime.
-- Reads idx_workflow_run_claim alone, from the type's beginning.  The registry stands on the
-- right of type =, so that it is asked once and a disabled backlog is not walked.

SELECT priority, seq
  FROM workflow_run INDEXED BY idx_workflow_run_claim
 WHERE status = 'pending' AND is_ready = 1 AND deleted_at IS NULL
   AND type = iif(EXISTS (SELECT 1
                            FROM workflow_registry
                           WHERE workflow_name = :type
                             AND (is_enabled = 0 OR runtime <> :runtime)),
                  NULL, :type)
 ORDER BY priority, seq
 LIMIT :room;
