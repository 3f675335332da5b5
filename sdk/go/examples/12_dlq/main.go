package main

import (
	"context"
	"errors"
	"fmt"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "load", func(_ context.Context, file string) (string, error) {
		if file == "" {
			return "", cairn.Dead(errors.New("no name"))
		}
		return file, nil
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	cairn.Must(db.Deploy(ctx, cairn.NewWorkflow("import", 1).DLQ().Step("load", nil)))
	cairn.Must(db.Start(ctx, "import", "", &cairn.StartOptions{Key: "monday"}))
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	db.DLQ(ctx)(func(record *cairn.DLQRecord, err error) bool { // from Go 1.23: for record, err := range db.DLQ(ctx)
		cairn.Check(errors.Join(err, db.Requeue(ctx, record.ID, "fixed.csv")))
		return true
	})
	cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}))
	db.Instances(ctx, cairn.InstanceFilter{Status: "completed"})(func(i *cairn.Instance, err error) bool { fmt.Println(i.Key, string(i.Output)); return err == nil })
} // monday "fixed.csv"
