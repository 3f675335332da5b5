// Command worker_go executes no-op jobs with a worker of the Go SDK, or waits for jobs that never
// come; see bench/sdk/compare.
//
//	worker_go URL COUNT HANDS     prints jobs a second; COUNT 0: waits until it is killed
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"cairn.invalid/cairn"
)

const hands = 8 // handlers at the same time; the others are claimed ahead

func main() {
	ctx, app := context.Background(), cairn.NewApp()
	noop := cairn.NewTask[int, any]("noop.v1")
	noop.Handle(app, func(context.Context, int) (any, error) { return nil, nil })
	count, held := cairn.Must(strconv.Atoi(os.Args[2])), cairn.Must(strconv.Atoi(os.Args[3]))
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: os.Args[1]}))
	defer db.Close()
	if count == 0 {
		fmt.Println("waits")
		cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{}))
		return
	}
	specs := make([]cairn.JobSpec, count)
	for i := range specs {
		specs[i] = cairn.JobSpec{Type: "noop.v1", Payload: 17}
	}
	cairn.Must(db.EnqueueMany(ctx, specs))
	begun := time.Now()
	config := cairn.WorkerConfig{Concurrency: min(hands, held), Prefetch: max(0, held-hands), UntilIdle: true}
	if done := cairn.Must(db.Work(ctx, app, config)); done != count {
		panic(fmt.Sprintf("%d of %d jobs were executed", done, count))
	}
	fmt.Printf("%.0f\n", float64(count)/time.Since(begun).Seconds())
}
