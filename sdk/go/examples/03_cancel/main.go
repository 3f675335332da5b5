package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn.invalid/cairn"
)

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	started, cause := make(chan bool), make(chan error)
	cairn.Handle(app, "report.build.v1", func(ctx context.Context, _ any) (any, error) {
		started <- true
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	go db.Work(ctx, app, cairn.WorkerConfig{Look: 100 * time.Millisecond}) // Close ends it
	job := cairn.Must(db.Enqueue(ctx, "report.build.v1", nil, nil))
	<-started
	cairn.Check(job.Cancel(ctx))
	var stopped *cairn.StoppedError
	fmt.Println(errors.As(<-cause, &stopped), stopped.Reason, cairn.Must(job.Status(ctx))) // true cancelled cancelled
}
