package main

import (
	"context"
	"fmt"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "request", func(_ context.Context, order int) (int, error) { return order, nil })
	cairn.Handle(app, "receipt", func(ctx context.Context, order int) (string, error) {
		return fmt.Sprintf("order %d: %s", order, cairn.TaskFrom(ctx).Signal.Payload), nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	cairn.Must(db.Deploy(ctx, cairn.NewWorkflow("payment", 1).Step("request", nil).
		Wait("settled", "payment.settled", nil).Step("receipt", nil)))
	run := cairn.InstanceOf[string](db, cairn.Must(db.Start(ctx, "payment", 17, nil)).ID)
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	fmt.Println(cairn.Must(run.Status(ctx)))
	id := &cairn.SignalOptions{ID: "bank-991"}
	fmt.Println(cairn.Must(run.Signal(ctx, "payment.settled", 250, id)).Taken,
		cairn.Must(run.Signal(ctx, "payment.settled", 250, id)).Existing)
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	fmt.Println(cairn.Must(run.Result(ctx))) // waiting_signal / true true / order 17: 250
}
