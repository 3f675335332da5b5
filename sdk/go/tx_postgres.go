package cairn

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// postgresTx has the statements for PostgreSQL, where triggers write the events.
type postgresTx struct{}

// One statement records the job; the other finds the job that has its key. Ids go as text, since
// drivers scan a uuid in different ways. A store from before metadata and tags has no such columns, so they
// are named only if they are used.
const (
	postgresEnqueue = `
INSERT INTO workflow.workflow_run (id, type, payload, idempotency_key, priority, max_attempts, run_at{columns})
VALUES ($1::text::uuid, $2::text, $3::text::jsonb, $4::text, $5::int, $6::int,
        coalesce($7::timestamptz, now() + $8::bigint * interval '1 microsecond'){values})
ON CONFLICT (idempotency_key) DO NOTHING
RETURNING id::text`

	postgresFind = `SELECT id::text FROM workflow.workflow_run WHERE idempotency_key = $1::text`

	postgresStart = `
SELECT workflow.start(workflow => $1::text, input => $2::text::jsonb, key => $3::text, version => $4::int,
                      start_at => CASE WHEN $6::bigint > 0 THEN now() + $6::bigint * interval '1 microsecond'
                                       ELSE $5::timestamptz END,
                      metadata => $7::text::jsonb, id => $8::text::uuid{more})::text`
)

// timeOrNull is NULL for the zero time.
func timeOrNull(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC()
}

func (postgresTx) enqueue(ctx context.Context, t *Tx, job *txJob) (TxID, error) {
	id := TxID{ID: newID(time.Now())}
	args := []any{id.ID, job.taskType, job.payload, nullable(job.key), job.priority, job.maxAttempts, timeOrNull(job.at), job.delay.Microseconds()}
	columns, values := "", ""
	if job.metadata != "" {
		args = append(args, job.metadata)
		columns, values = ", metadata", fmt.Sprintf(", $%d::text::jsonb", len(args))
	}
	if job.tags != "" {
		args = append(args, job.tags)
		columns, values = columns+", tags", values+fmt.Sprintf(", $%d::text::jsonb", len(args))
	}
	if job.group != "" {
		args = append(args, job.group)
		columns, values = columns+`, "group"`, values+fmt.Sprintf(", $%d::text", len(args))
	}
	if job.timeout > 0 {
		args = append(args, toMS(job.timeout))
		columns, values = columns+", timeout_ms", values+fmt.Sprintf(", $%d::bigint", len(args))
	}
	if job.retry != "" {
		args = append(args, job.retry)
		columns, values = columns+", retry", values+fmt.Sprintf(", $%d::text::jsonb", len(args))
	}
	statement := strings.NewReplacer("{columns}", columns, "{values}", values).Replace(postgresEnqueue)
	err := t.query(ctx, statement, args...).Scan(&id.ID)
	if !isNoRows(err) {
		return id, err
	}
	id.Existing = true
	return id, t.query(ctx, postgresFind, job.key).Scan(&id.ID)
}

func (postgresTx) start(ctx context.Context, t *Tx, start *txStart) (TxID, error) {
	own := newID(time.Now())
	var id TxID
	args := []any{start.workflow, start.input, nullable(start.key), start.version, timeOrNull(start.at),
		start.delay.Microseconds(), nullable(start.metadata), own}
	more := ""
	if start.tags != "" {
		args = append(args, start.tags)
		more = fmt.Sprintf(", tags => $%d::text::jsonb", len(args))
	}
	if start.group != "" {
		args = append(args, start.group)
		more += fmt.Sprintf(`, "group" => $%d::text`, len(args))
	}
	err := t.query(ctx, strings.Replace(postgresStart, "{more}", more, 1), args...).Scan(&id.ID)
	id.Existing = id.ID != own
	return id, err
}

func (postgresTx) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case isMissingTable(err):
		return schemaOlder(err)
	case strings.Contains(err.Error(), "23503") || strings.Contains(err.Error(), "workflow \"") && strings.Contains(err.Error(), "does not exist"):
		return newError(ErrNotFound, "%v", err)
	}
	return err
}
