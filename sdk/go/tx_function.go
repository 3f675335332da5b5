package cairn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"time"
	"unicode"
	"unicode/utf8"
)

// txDefinition is the definition of a function as the engine stores it: what is as usual is left out, and the hash
// is that of the text.
type txDefinition struct {
	name, content, hash string
	version             int32
}

const maxNameBytes = 256

var reservedName = regexp.MustCompile(`~[0-9]+$`)

// checkFunction refuses what deploying would.
func checkFunction(name string, version int32, o FunctionOptions) error {
	switch {
	case name == "":
		return newError(ErrBadInput, "the function has no name")
	case len(name) > maxNameBytes:
		return newError(ErrTooLarge, "the name of the function has %d bytes; %d are allowed", len(name), maxNameBytes)
	case !utf8.ValidString(name):
		return newError(ErrBadInput, "the name of the function is not UTF-8")
	case bytes.ContainsFunc([]byte(name), unicode.IsControl):
		return newError(ErrBadInput, "function %q: the name contains a control character", name)
	case reservedName.MatchString(name):
		return newError(ErrBadInput, "function %q: a name cannot end in \"~\" and a number", name)
	case version < 1:
		return newError(ErrBadInput, "function %q: Version must be from 1", name)
	case o.MaxAttempts < 0:
		return newError(ErrBadInput, "function %q: MaxAttempts must be from 1", name)
	}
	return nil
}

func makeTxDefinition(name string, version int32, o FunctionOptions) (*txDefinition, error) {
	if err := checkFunction(name, version, o); err != nil {
		return nil, err
	}
	members := object{{"function", name}, {"version", version}}
	if o.DLQ {
		members = append(members, field{"dlq", true})
	}
	if o.MaxAttempts != 0 && o.MaxAttempts != 3 {
		members = append(members, field{"max_attempts", o.MaxAttempts})
	}
	text, err := encodeJSON(members)
	if err != nil {
		return nil, err
	}
	// The engine writes these two as they are.
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u2028`), []byte("\u2028")), []byte(`\u2029`), []byte("\u2029"))
	sum := sha256.Sum256(text)
	return &txDefinition{name: name, version: version, content: string(text), hash: hex.EncodeToString(sum[:])}, nil
}

// defineFunction writes the definition of a function unless it is there.
func (t *Tx) defineFunction(ctx context.Context, name string, version int32, o FunctionOptions) error {
	d, err := makeTxDefinition(name, version, o)
	if err != nil {
		return err
	}
	return t.store.explain(t.store.define(ctx, t, d))
}

// differs is ErrMisuse if the store has other content than this.
func (d *txDefinition) differs(hash string) error {
	if hash == d.hash {
		return nil
	}
	misuse := newError(ErrMisuse, "function %q, version %d, is deployed with different content", d.name, d.version)
	misuse.Hint = "raise the version"
	return misuse
}

// put looks for the definition and writes it if it is not there; both statements answer with the hash.
func (d *txDefinition) put(ctx context.Context, t *Tx, find, insert string, now any) error {
	var hash string
	err := t.query(ctx, find, d.name, d.version).Scan(&hash)
	if isNoRows(err) {
		err = t.query(ctx, insert, d.name, d.version, d.hash, d.content, now).Scan(&hash)
	}
	if isNoRows(err) { // another transaction was faster
		err = t.query(ctx, find, d.name, d.version).Scan(&hash)
	}
	if err != nil {
		return err
	}
	return d.differs(hash)
}

const (
	postgresMayDefine = `
SELECT has_table_privilege('workflow.workflow_definition', 'SELECT')
   AND has_table_privilege('workflow.workflow_definition', 'INSERT')`

	postgresFindDefinition = `SELECT hash FROM workflow.workflow_definition WHERE name = $1::text AND version = $2::int`

	postgresDefine = `
INSERT INTO workflow.workflow_definition (name, version, hash, content, created_at)
VALUES ($1::text, $2::int, $3::text, $4::text::json, $5::timestamptz)
ON CONFLICT DO NOTHING
RETURNING hash`

	sqliteFindDefinition = `SELECT hash FROM workflow_definition WHERE name = ? AND version = ?`

	sqliteDefine = `
INSERT INTO workflow_definition (name, version, hash, content, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
RETURNING hash`
)

// define: a role that may not write definitions leaves that to the workers; an error would end the transaction.
func (postgresTx) define(ctx context.Context, t *Tx, d *txDefinition) error {
	var may bool
	if err := t.query(ctx, postgresMayDefine).Scan(&may); err != nil || !may {
		return err
	}
	return d.put(ctx, t, postgresFindDefinition, postgresDefine, time.Now().UTC())
}

func (s sqliteTx) define(ctx context.Context, t *Tx, d *txDefinition) error {
	if err := s.check(ctx, t); err != nil {
		return err
	}
	return d.put(ctx, t, sqliteFindDefinition, sqliteDefine, time.Now().UnixMicro())
}
