package cairn

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// sqliteSchema is the version of the tables that these statements were written for.
const sqliteSchema = 37

// sqliteTx has the statements for SQLite, which has no triggers: what they do on PostgreSQL is
// written here.
type sqliteTx struct{}

const (
	sqliteFileOf = `SELECT file FROM pragma_database_list WHERE name = 'main'`

	// A migration may say which version of the tables a program must know to write to them.
	sqliteHasOldest = `SELECT count(*) FROM pragma_table_info('workflow_migration') WHERE name = 'oldest'`
	sqliteOldest    = `SELECT coalesce(max(oldest), 0) FROM workflow_migration`

	sqliteEnqueue = `
INSERT INTO workflow_run (id, type, payload, idempotency_key, priority, max_attempts, run_at, created_at, updated_at, is_ready{columns})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?{values})
ON CONFLICT (idempotency_key) DO NOTHING
RETURNING id`

	sqliteEvent = `
INSERT INTO workflow_event (workflow_id, event_type, data, created_at) VALUES (?, 'created', '{}', ?)
RETURNING id`

	sqliteFind = `SELECT id FROM workflow_run WHERE idempotency_key = ?`

	sqliteStart = `
INSERT INTO workflow_intake (id, workflow, version, input, key, start_at, metadata, tags{columns})
VALUES (?, ?, ?, ?, ?, ?, ?, ?{values})
ON CONFLICT DO NOTHING
RETURNING id`

	sqliteFindStart = `
SELECT id FROM workflow_instance WHERE workflow = ?1 AND key = ?2
 UNION ALL
SELECT id FROM workflow_intake WHERE workflow = ?1 AND key = ?2
 LIMIT 1`
)

// check refuses a file that an engine of this process has open with another copy of SQLite, and
// one whose tables are too new.
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
	if t.isChecked {
		return nil
	}
	err := checkSchema(ctx, t)
	t.isChecked = err == nil
	return err
}

func checkSchema(ctx context.Context, t *Tx) error {
	var has, oldest int
	if err := t.query(ctx, sqliteHasOldest).Scan(&has); err != nil || has == 0 {
		return err
	}
	if err := t.query(ctx, sqliteOldest).Scan(&oldest); err != nil || oldest <= sqliteSchema {
		return err
	}
	newer := newError(ErrSchemaNewer, "the tables need version %d or newer, and this package knows %d", oldest, sqliteSchema)
	newer.Hint = "use a newer version of this package"
	return newer
}

func (s sqliteTx) enqueue(ctx context.Context, t *Tx, job *txJob) (TxID, error) {
	if err := s.check(ctx, t); err != nil {
		return TxID{}, err
	}
	now := time.Now()
	due := dueTime(now, job.at, job.delay)
	id := TxID{ID: newID(now)}
	args := []any{id.ID, job.taskType, job.payload, nullable(job.key), job.priority, job.maxAttempts,
		due.UnixMicro(), now.UnixMicro(), now.UnixMicro(), !due.After(now)}
	columns, values := "", ""
	if job.metadata != "" {
		columns, values, args = ", metadata", ", ?", append(args, job.metadata)
	}
	if job.tags != "" {
		columns, values, args = columns+", tags", values+", ?", append(args, job.tags)
	}
	if job.group != "" {
		columns, values, args = columns+`, "group"`, values+", ?", append(args, job.group)
	}
	if job.timeout > 0 {
		columns, values, args = columns+", timeout_ms", values+", ?", append(args, toMS(job.timeout))
	}
	if job.retry != "" {
		columns, values, args = columns+", retry", values+", ?", append(args, job.retry)
	}
	statement := strings.NewReplacer("{columns}", columns, "{values}", values).Replace(sqliteEnqueue)
	err := t.query(ctx, statement, args...).Scan(&id.ID)
	if isNoRows(err) {
		id.Existing = true
		return id, t.query(ctx, sqliteFind, job.key).Scan(&id.ID)
	}
	if err != nil {
		return TxID{}, err
	}
	var event any // NULL since version 11 of the tables, where workflow_event is a view
	return id, t.query(ctx, sqliteEvent, id.ID, now.UnixMicro()).Scan(&event)
}

// orEmpty is {} for "": the column of tags is never NULL.
func orEmpty(tags string) string {
	if tags == "" {
		return "{}"
	}
	return tags
}

func dueTime(now, at time.Time, delay time.Duration) time.Time {
	if at.IsZero() {
		return now.Add(delay)
	}
	return at
}

func (s sqliteTx) start(ctx context.Context, t *Tx, start *txStart) (TxID, error) {
	if err := s.check(ctx, t); err != nil {
		return TxID{}, err
	}
	now := time.Now()
	var at any
	if !start.at.IsZero() || start.delay > 0 {
		at = dueTime(now, start.at, start.delay).UnixMicro()
	}
	id := TxID{ID: newID(now)}
	columns, values := "", ""
	args := []any{id.ID, start.workflow, start.version, start.input, nullable(start.key), at, nullable(start.metadata), orEmpty(start.tags)}
	if start.group != "" {
		columns, values, args = `, "group"`, ", ?", append(args, start.group)
	}
	statement := strings.NewReplacer("{columns}", columns, "{values}", values).Replace(sqliteStart)
	err := t.query(ctx, statement, args...).Scan(&id.ID)
	if isNoRows(err) {
		id.Existing = true
		err = t.query(ctx, sqliteFindStart, start.workflow, start.key).Scan(&id.ID)
	}
	return id, err
}

// isNoRows: drivers have their own error for it, with the same text.
func isNoRows(err error) bool {
	return errors.Is(err, sql.ErrNoRows) || err != nil && strings.HasSuffix(err.Error(), "no rows in result set")
}

func (sqliteTx) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case isMissingTable(err):
		return schemaOlder(err)
	case strings.Contains(err.Error(), "this version of it, does not exist"):
		return newError(ErrNotFound, "%v", err)
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
