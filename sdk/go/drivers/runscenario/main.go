// Command runscenario executes a scenario of tests/sdk, also one with transactions:
//
//	runscenario SCENARIO.json URL
package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/internal/scenario"
	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3"
)

func begin(ctx context.Context, url string) (*scenario.Transaction, error) {
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		return beginSQLite(ctx, file)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	tx, err := conn.Begin(ctx)
	return &scenario.Transaction{
		Tx: cairn.TxPgx(tx),
		Exec: func(statement string) error {
			_, err := tx.Exec(ctx, statement)
			return err
		},
		End: func(commit bool) error {
			end := tx.Rollback
			if commit {
				end = tx.Commit
			}
			return errors.Join(end(ctx), conn.Close(ctx))
		}}, err
}

func beginSQLite(ctx context.Context, file string) (*scenario.Transaction, error) {
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	return &scenario.Transaction{
		Tx: cairn.TxSQLite(tx),
		Exec: func(statement string) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		},
		End: func(commit bool) error {
			end := tx.Rollback
			if commit {
				end = tx.Commit
			}
			return errors.Join(end(), db.Close())
		}}, err
}

func main() { scenario.Main(begin) }
