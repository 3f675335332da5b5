-- find_known_instance: why insert_instance refused.
--
--   :id, :workflow, :key  of the instance that was not inserted
--
-- One row: seq and id of the instance that is there already.  The same id comes before the same
-- key.

SELECT seq, id FROM workflow_instance WHERE id = :id
UNION ALL
SELECT seq, id FROM workflow_instance WHERE key = :key AND workflow = :workflow
LIMIT 1;
