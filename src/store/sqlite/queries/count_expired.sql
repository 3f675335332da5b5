-- count_expired: how many leases of jobs and steps have run out and were not taken back yet; one
-- without an end has run out.
--
--   :now  microseconds since 1970

SELECT (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'
           AND lease_until IS NULL) +
       (SELECT count(*)
          FROM workflow_run INDEXED BY idx_workflow_run_leased
         WHERE status = 'leased'
           AND lease_until < :now) +
       (SELECT count(*)
          FROM workflow_step INDEXED BY idx_workflow_step_leased
         WHERE locked_by IS NOT NULL
           AND due_at <= :now);
