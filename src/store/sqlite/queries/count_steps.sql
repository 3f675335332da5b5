-- count_steps: how many steps can be claimed and how many are leased.
--
-- One row: ready, leased.  Walks the indexes of those alone.

SELECT (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_ready
         WHERE is_ready = 1),
       (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL);
