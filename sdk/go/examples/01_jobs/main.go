package main

import (
	"context"
	"fmt"

	"cairn.invalid/cairn"
)

type Order struct{ ID int }
type Invoice struct{ PDF string }

var MakeInvoice = cairn.NewTask[Order, Invoice]("billing.invoice.v1")

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	MakeInvoice.Handle(app, func(ctx context.Context, o Order) (Invoice, error) {
		return Invoice{PDF: fmt.Sprintf("%d.pdf", o.ID)}, nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	job := cairn.Must(MakeInvoice.Enqueue(ctx, db, Order{17}, &cairn.JobOptions{Key: "invoice-17"}))
	again := cairn.Must(MakeInvoice.Enqueue(ctx, db, Order{17}, &cairn.JobOptions{Key: "invoice-17"}))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	fmt.Println(again.Existing, again.ID == job.ID, cairn.Must(job.Result(ctx)).PDF) // true true 17.pdf
}
