package cairn_test

import (
	"context"
	"encoding/json"
	"testing"

	"cairn.invalid/cairn"
)

// A worker until idle, beside what its claims would not bring: a job of another runtime, and
// an instance of a version that it has no code for.
func TestAWorkerUntilIdleEndsBesideWhatIsNotForIt(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, later := within(t), cairn.NewApp(), cairn.NewApp()
		prefix, name := "idle"+unique()+".", "function-"+unique()
		theirs, mine := prefix+"python", prefix+"go"
		for kind, runtime := range map[string]string{theirs: "python", mine: "go"} {
			if err := db.PutRegistry(ctx, cairn.RegistryEntry{WorkflowName: kind, Runtime: runtime, IsEnabled: true}); err != nil {
				t.Fatal(err)
			}
		}
		cairn.Handle(app, prefix+"%", func(_ context.Context, n int) (int, error) { return n, nil })
		cairn.NewFunction[int, int](name, 1, nil).Handle(app, func(*cairn.Context, int) (int, error) { return 1, nil })
		second := cairn.NewFunction[int, int](name, 2, nil).Handle(later, func(*cairn.Context, int) (int, error) { return 2, nil })
		must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, theirs, 1, nil))
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, mine, 3, nil))
		run := must[*cairn.InstanceHandle[int]](t)(second.Start(ctx, db, 1, nil))
		if n := work(t, db, app); n != 1 {
			t.Error("executed", n)
		}
		if got := must[json.RawMessage](t)(job.Result(ctx)); string(got) != "3" {
			t.Error(string(got))
		}
		if n := work(t, db, later); n != 1 {
			t.Error("executed", n)
		}
		if got := must[int](t)(run.Result(ctx)); got != 2 {
			t.Error(got)
		}
	})
}
