package cairn

import (
	"context"
	"time"
)

// postgresTx has the statements for PostgreSQL, where triggers write the events.
type postgresTx struct{}

// One statement records the job or finds the one with its key. The id is given as text, since
// drivers scan a uuid in different ways.
const postgresEnqueue = `
WITH made AS (
    INSERT INTO workflow.workflow_run (type, payload, idempotency_key, priority, max_attempts, run_at)
    VALUES ($1::text, $2::text::jsonb, $3::text, $4::int, $5::int,
            coalesce($6::timestamptz, now() + $7::bigint * interval '1 microsecond'))
    ON CONFLICT (idempotency_key) DO NOTHING
    RETURNING id)
SELECT id::text, false FROM made
UNION ALL
SELECT id::text, true FROM workflow.workflow_run WHERE idempotency_key = $3::text AND NOT EXISTS (SELECT FROM made)`

// timeOrNull is NULL for the zero time.
func timeOrNull(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC()
}

func (postgresTx) enqueue(ctx context.Context, t *Tx, job *txJob) (TxID, error) {
	var id TxID
	args := []any{job.taskType, job.payload, nullable(job.key), job.priority, job.maxAttempts, timeOrNull(job.at), job.delay.Microseconds()}
	err := t.query(ctx, postgresEnqueue, args...).Scan(&id.ID, &id.Existing)
	return id, err
}

func (postgresTx) start(ctx context.Context, t *Tx, start *txStart) (TxID, error) {
	return TxID{}, unsupported("start the instance after the commit, with a key", "this version of the store cannot start an instance in a transaction")
}

func (postgresTx) explain(err error) error {
	if isMissingTable(err) {
		return schemaOlder(err)
	}
	return err
}
