package cairn

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Row is a row of any driver.
type Row interface{ Scan(dest ...any) error }

// Tx records jobs and starts instances in the caller's own transaction. It only executes
// statements: it never commits, rolls back or sets a savepoint, and it needs no engine.
type Tx struct {
	query     func(ctx context.Context, query string, args ...any) Row
	store     txStore
	isChecked bool // the schema can be written to
}

// txStore has the statements of one kind of database.
type txStore interface {
	enqueue(ctx context.Context, t *Tx, job *txJob) (TxID, error)
	start(ctx context.Context, t *Tx, start *txStart) (TxID, error)
	define(ctx context.Context, t *Tx, d *txDefinition) error
	explain(err error) error
}

type txJob struct {
	taskType, payload, key, metadata, tags, retry, group string
	priority, maxAttempts                                int32
	at                                                   time.Time
	delay, timeout                                       time.Duration
}

type txStart struct {
	workflow, input, key, metadata, tags, group string
	version                                     int32
	at                                          time.Time
	delay                                       time.Duration
}

// TxID is the id of a job or instance that was recorded in a transaction.
type TxID struct {
	ID       string
	Existing bool // the key was known, and nothing was written
}

type queryRowContext interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func rowQuery(q queryRowContext) func(ctx context.Context, query string, args ...any) Row {
	return func(ctx context.Context, query string, args ...any) Row {
		return q.QueryRowContext(ctx, query, args...)
	}
}

// TxPostgres uses a *sql.Tx or *sql.Conn of a PostgreSQL driver: pgx's stdlib, lib/pq, and what
// is built on them, such as bun and GORM.
func TxPostgres(q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) *Tx {
	return &Tx{query: rowQuery(q), store: postgresTx{}}
}

// TxPgx uses pgx itself (pgx.Tx, *pgx.Conn, a pool), without importing it.
func TxPgx[R Row](q interface {
	QueryRow(ctx context.Context, sql string, args ...any) R
}) *Tx {
	query := func(ctx context.Context, query string, args ...any) Row { return q.QueryRow(ctx, query, args...) }
	return &Tx{query: query, store: postgresTx{}}
}

// TxSQLite uses a *sql.Tx or *sql.Conn of an SQLite driver. It answers ErrMisuse if this process
// has an engine open on the same file, because two copies of SQLite in one process corrupt it;
// an engine that was opened with SharedSQLite uses the same copy.
func TxSQLite(q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) *Tx {
	return &Tx{query: rowQuery(q), store: sqliteTx{}}
}

// Enqueue records a job in the transaction.
func (t *Tx) Enqueue(ctx context.Context, taskType string, payload any, options *JobOptions) (TxID, error) {
	job, err := makeTxJob(JobSpec{taskType, payload, options})
	if err != nil {
		return TxID{}, err
	}
	id, err := t.store.enqueue(ctx, t, job)
	return id, t.store.explain(err)
}

// EnqueueMany records jobs in the transaction.
func (t *Tx) EnqueueMany(ctx context.Context, specs []JobSpec) ([]TxID, error) {
	ids := make([]TxID, 0, len(specs))
	for _, spec := range specs {
		id, err := t.Enqueue(ctx, spec.Type, spec.Payload, spec.Options)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Start starts an instance with the transaction: an open engine makes it an instance within a
// second of the commit. ErrNotFound: the store does not know the workflow.
func (t *Tx) Start(ctx context.Context, workflow string, input any, options *StartOptions) (TxID, error) {
	o := StartOptions{}
	if options != nil {
		o = *options
	}
	text, err := encodePayload(jsonCodec{}, input)
	if err == nil {
		err = checkTimes(o.At, o.Delay)
	}
	if err == nil {
		err = checkPlainKey("a transaction", o.OnExisting, 0)
	}
	if err != nil {
		return TxID{}, err
	}
	start := &txStart{workflow: workflow, input: string(text), key: o.Key, version: o.Version, at: o.At, delay: o.Delay, group: o.Group}
	if start.metadata, err = txMetadata(o.Metadata); err != nil {
		return TxID{}, err
	}
	if start.tags, err = txTags(o.Tags); err != nil {
		return TxID{}, err
	}
	id, err := t.store.start(ctx, t, start)
	return id, t.store.explain(err)
}

// checkPlainKey refuses what only a call to the engine can do about a key that is known.
func checkPlainKey(where string, onExisting OnExisting, debounce time.Duration) error {
	if onExisting != "" && onExisting != ReturnExisting {
		return newError(ErrBadInput, "OnExisting %q is not for %s", onExisting, where)
	}
	if debounce != 0 {
		return newError(ErrBadInput, "Debounce is not for %s", where)
	}
	return nil
}

func checkTimes(at time.Time, delay time.Duration) error {
	_, err := chooseTime(func() (time.Time, error) { return time.Time{}, nil }, at, delay)
	return err
}

func txMetadata(metadata map[string]any) (string, error) {
	if len(metadata) == 0 {
		return "", nil
	}
	text, err := encodeJSON(metadata)
	return string(text), err
}

func txTags(tags map[string]string) (string, error) {
	text, err := tagsText(tags)
	return string(text), err
}

func makeTxJob(spec JobSpec) (*txJob, error) {
	if spec.Type == "" {
		return nil, newError(ErrBadInput, "type is empty")
	}
	o := JobOptions{}
	if spec.Options != nil {
		o = *spec.Options
	}
	payload, err := encodePayload(jsonCodec{}, spec.Payload)
	if err == nil {
		err = checkTimes(o.At, o.Delay)
	}
	if err == nil {
		err = checkPlainKey("a transaction", o.OnExisting, o.Debounce)
	}
	if err != nil {
		return nil, err
	}
	if !json.Valid(payload) {
		return nil, newError(ErrBadJSON, "the payload is not JSON")
	}
	job := &txJob{taskType: spec.Type, payload: string(payload), key: o.Key, priority: 100, maxAttempts: 3, at: o.At, delay: o.Delay}
	if o.Priority != nil {
		job.priority = *o.Priority
	}
	if o.MaxAttempts != 0 {
		job.maxAttempts = o.MaxAttempts
	}
	if job.maxAttempts < 1 {
		return nil, newError(ErrBadInput, "MaxAttempts must be from 1")
	}
	if job.metadata, err = txMetadata(o.Metadata); err != nil {
		return nil, err
	}
	if job.tags, err = txTags(o.Tags); err != nil {
		return nil, err
	}
	if job.timeout = o.Timeout; job.timeout < 0 {
		return nil, newError(ErrBadInput, "Timeout is %s; it must not be negative", o.Timeout)
	}
	retry, err := retryText(retryOf(o.Retry))
	job.retry, job.group = string(retry), o.Group
	return job, err
}

// nullable is NULL for "".
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// isMissingTable reports whether a database says that Cairn's tables are not there.
func isMissingTable(err error) bool {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "no such table") || strings.Contains(text, "no such column") || strings.Contains(text, "has no column named") ||
		strings.Contains(text, "42P01") || strings.Contains(text, "42703") || strings.Contains(text, "42883") || strings.Contains(text, "3F000") ||
		strings.Contains(text, `relation "workflow.`) || strings.Contains(text, `schema "workflow" does not exist`)
}

func schemaOlder(err error) error {
	older := newError(ErrSchemaOlder, "the database has no tables of Cairn, or older ones: open the store once with cairn.Open or the cairn program")
	older.Detail = err.Error()
	return older
}
