package main

import (
	"context"
	"database/sql"
	"fmt"

	"cairn.invalid/cairn"
	_ "github.com/mattn/go-sqlite3"
)

func main() {
	ctx, app, invoice := context.Background(), cairn.NewApp(), cairn.NewTask[int, any]("billing.invoice.v1")
	invoice.Handle(app, func(_ context.Context, n int) (any, error) { fmt.Println("invoice", n); return nil, nil })
	cairn.Check(cairn.Must(cairn.Open(ctx, cairn.Config{URL: "sqlite:shop.db"})).Close()) // makes the tables
	shop := cairn.Must(sql.Open("sqlite3", "shop.db"))
	cairn.Must(shop.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)"))
	for n, finish := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx := cairn.Must(shop.BeginTx(ctx, nil))
		cairn.Must(tx.Exec("INSERT INTO orders VALUES (?)", n))
		cairn.Must(invoice.EnqueueTx(ctx, cairn.TxSQLite(tx), n, nil))
		cairn.Check(finish(tx)) // both rows, or none
	}
	cairn.Check(shop.Close())
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "sqlite:shop.db"}))
	defer db.Close()
	fmt.Println(cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))) // invoice 0 / 1
}
