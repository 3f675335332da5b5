package cairn_test

import (
	"context"
	"testing"

	"cairn.invalid/cairn"
)

// How many no-op jobs a worker executes in a second: go test -run - -bench NoOp -benchtime 100000x
func BenchmarkNoOpJobs(b *testing.B) {
	if cairn.LibraryVersion() == "" {
		b.Skip("memory: needs libcairn")
	}
	ctx, app := context.Background(), cairn.NewApp()
	cairn.Handle(app, "noop", func(context.Context, any) (any, error) { return nil, nil })
	db := cairn.Must(cairn.Open(ctx, cairn.Config{URL: "memory:", Logger: quiet}))
	defer db.Close()
	specs := make([]cairn.JobSpec, b.N)
	for i := range specs {
		specs[i] = cairn.JobSpec{Type: "noop"}
	}
	cairn.Must(db.EnqueueMany(ctx, specs))
	b.ResetTimer()
	n := cairn.Must(db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true, Prefetch: 256}))
	b.StopTimer()
	if n != b.N {
		b.Fatal(n)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
