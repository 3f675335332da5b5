-- count_steps: how many steps can be claimed and how many are leased.
--
-- One row: ready, leased.  Reads the indexes of those alone; a lease always has its due_at.

SELECT (SELECT count(*)
          FROM workflow.workflow_step AS s
         WHERE s.is_ready),
       (SELECT count(*)
          FROM workflow.workflow_step AS s
         WHERE s.due_at IS NOT NULL AND s.locked_by IS NOT NULL)
