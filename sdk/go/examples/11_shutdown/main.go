package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cairn.invalid/cairn"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := cairn.NewApp()
	cairn.Handle(app, "slow.v1", func(ctx context.Context, n int) (int, error) {
		stop() // as if somebody had pressed Ctrl-C
		time.Sleep(100 * time.Millisecond)
		return n * 2, ctx.Err() // its own context has not ended
	})
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:"}))
	defer db.Close()
	job := cairn.Must(db.Enqueue(ctx, "slow.v1", 21, nil))
	n, err := db.Work(ctx, app, cairn.WorkerConfig{Grace: 30 * time.Second})
	after := context.WithoutCancel(ctx)
	fmt.Println(n, err, string(cairn.Must(job.Result(after)))) // 1 <nil> 42
}
