-- 0017_approvals: what waits for a decision is listed by its deadline.
-- locks: workflow_step, writers only, while an index is built
--
-- Whoever migrates may have built the index before, while work went on; what was left of an attempt that
-- failed is removed.

DO $body$
BEGIN
    IF EXISTS (SELECT FROM pg_index
                WHERE indexrelid = to_regclass('workflow.idx_workflow_step_undecided')
                  AND NOT indisvalid) THEN
        DROP INDEX workflow.idx_workflow_step_undecided;
    END IF;
END
$body$;

CREATE INDEX IF NOT EXISTS idx_workflow_step_undecided
    ON workflow.workflow_step (deadline_at, instance_seq, seq)
    WHERE status = 'waiting_decision';
