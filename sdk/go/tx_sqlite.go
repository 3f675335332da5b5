package cairn

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// sqliteTx has the statements for SQLite, which has no triggers: what they do on PostgreSQL is
// written here.
type sqliteTx struct{}

const (
	sqliteFileOf = `SELECT file FROM pragma_database_list WHERE name = 'main'`

	// The last migration says which is the oldest version of the library that may write.
	sqliteFind = `SELECT id FROM workflow_run WHERE idempotency_key = ?`

	sqliteEnqueue = `
INSERT INTO workflow_run (id, type, payload, idempotency_key, priority, max_attempts, run_at, created_at, updated_at, is_ready)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING id`

	sqliteEvent = `
INSERT INTO workflow_event (workflow_id, event_type, data, created_at) VALUES (?, 'created', '{}', ?)
RETURNING id`
)

// check refuses a file that an engine of this process has open with another copy of SQLite, and
// one whose tables are newer.
func (sqliteTx) check(ctx context.Context, t *Tx) error {
	var file string
	if err := t.query(ctx, sqliteFileOf).Scan(&file); err != nil {
		return err
	}
	if file != "" && openFiles.has(file) {
		misuse := newError(ErrMisuse, "this process has an engine open on %s, and a second copy of SQLite would corrupt it", file)
		misuse.Hint = "close the engine first, or work in another process; if the driver uses the system's SQLite, open the engine with SharedSQLite"
		return misuse
	}
	return nil
}

func (s sqliteTx) enqueue(ctx context.Context, t *Tx, job *txJob) (TxID, error) {
	if err := s.check(ctx, t); err != nil {
		return TxID{}, err
	}
	if job.key != "" {
		known := TxID{Existing: true}
		err := t.query(ctx, sqliteFind, job.key).Scan(&known.ID)
		if !errors.Is(err, sql.ErrNoRows) {
			return known, err
		}
	}
	now := time.Now()
	due := now.Add(job.delay)
	if !job.at.IsZero() {
		due = job.at
	}
	isReady := 1
	if due.After(now) {
		isReady = 0
	}
	id := newID(now)
	args := []any{id, job.taskType, job.payload, nullable(job.key), job.priority, job.maxAttempts,
		due.UnixMicro(), now.UnixMicro(), now.UnixMicro(), isReady}
	if err := t.query(ctx, sqliteEnqueue, args...).Scan(&id); err != nil {
		return TxID{}, err
	}
	var event int64
	err := t.query(ctx, sqliteEvent, id, now.UnixMicro()).Scan(&event)
	return TxID{ID: id}, err
}

func (sqliteTx) start(ctx context.Context, t *Tx, start *txStart) (TxID, error) {
	return TxID{}, unsupported("start the instance after the commit, with a key", "this version of the store cannot start an instance in a transaction")
}

func (sqliteTx) explain(err error) error {
	if isMissingTable(err) {
		return schemaOlder(err)
	}
	return err
}

// newID is a UUID of version 7, which sorts by time.
func newID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
