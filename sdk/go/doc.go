// Package cairn is the Go SDK of Cairn: durable jobs, workflows and functions.
//
// An Engine is an open store (sqlite:, postgres:, memory:) or a connection to a server (http:).
// An App has the handlers of a program. A worker brings the two together:
//
//	var MakeInvoice = cairn.NewTask[Order, Invoice]("billing.invoice.v1")
//
//	app := cairn.NewApp()
//	MakeInvoice.Handle(app, func(ctx context.Context, o Order) (Invoice, error) {
//		return Invoice{PDF: fmt.Sprintf("%d.pdf", o.ID)}, nil
//	})
//	db, err := cairn.Open(ctx, cairn.Config{URL: "sqlite:orders.db"})
//	job, err := MakeInvoice.Enqueue(ctx, db, Order{17}, nil)
//	n, err := db.Work(ctx, app, cairn.WorkerConfig{})
//
// With cgo the package uses libcairn, which pkg-config finds. Without cgo (CGO_ENABLED=0), or
// with the build tag cairn_http, it speaks to a server in pure Go; other URLs are then
// ErrUnsupported.
//
// Payloads, inputs and results are JSON, made by encoding/json unless Config.Codec says
// otherwise. Everything is safe for concurrent use, except a function's Context.
package cairn
