package main

import (
	"context"
	"errors"
	"fmt"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "%", func(_ context.Context, who string) (string, error) { return who, nil })
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	cairn.Must(db.Deploy(ctx, cairn.NewWorkflow("leave", 1).Step("file", nil).Human("approval", nil).Step("book", nil)))
	anna := cairn.Must(db.Start(ctx, "leave", "Anna", nil))
	bert := cairn.Must(db.Start(ctx, "leave", "Bert", nil))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	cairn.Check(anna.Confirm(ctx, "approval", "carla", "have fun"))
	cairn.Check(bert.Reject(ctx, "approval", "carla", "we need you"))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	again := bert.Confirm(ctx, "approval", "dan", "")
	fmt.Println(cairn.Must(anna.Status(ctx)), cairn.Must(bert.Status(ctx)), errors.Is(again, cairn.ErrWrongState))
} // completed aborted true
