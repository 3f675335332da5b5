-- count_expired: how many leases have run out and were not taken back yet.
--
--   :now  microseconds since 1970

SELECT count(*)
  FROM workflow_run INDEXED BY idx_workflow_run_leased
 WHERE status = 'leased'
   AND lease_until < :now;
