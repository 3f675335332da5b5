package main

import (
	"context"
	"fmt"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "%", func(ctx context.Context, in map[string]any) (any, error) {
		fmt.Print(cairn.TaskFrom(ctx).Step, " ")
		return in, nil
	})
	wf := cairn.NewWorkflow("order", 1).
		Step("reserve", &cairn.StepSpec{Compensation: &cairn.Compensation{Handler: "release"}}).
		Condition("in_stock", "{{ gt .count 0 }}",
			func(w *cairn.Workflow) { w.Step("pick", nil) }, func(w *cairn.Workflow) { w.Step("restock", nil) }).
		Fork("fulfilment", "all",
			func(w *cairn.Workflow) { w.Step("ship", nil) }, func(w *cairn.Workflow) { w.Step("invoice", nil) }).
		Step("close", nil)
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	cairn.Must(db.Deploy(ctx, wf))
	order := cairn.Must(db.Start(ctx, "order", map[string]any{"count": 2}, nil))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true, Concurrency: 1}))
	fmt.Println(cairn.Must(order.Status(ctx))) // reserve pick ship invoice close completed
}
