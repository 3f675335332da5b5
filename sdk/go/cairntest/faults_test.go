//go:build cgo && !cairn_http

package cairntest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/cairntest"
)

const order = cairn.Text(`{workflow: order, version: 1, steps: [
    {step: charge, timeout: 20s, compensation: {handler: refund, max_attempts: 20}},
    {step: ship, max_attempts: 2, on_failure: compensate}]}`)

// bank is a provider that knows a key once, as real ones do.
type bank map[string]int

func (b bank) app() *cairn.App {
	app := cairn.NewApp()
	cairn.Handle(app, "charge", func(ctx context.Context, in any) (any, error) {
		b[cairn.TaskFrom(ctx).Key] = 1
		return in, nil
	})
	cairn.Handle(app, "refund", func(ctx context.Context, _ any) (any, error) {
		b[cairn.TaskFrom(ctx).Key[:len(cairn.TaskFrom(ctx).Key)-len(":undo")]] = 0
		return nil, nil
	})
	cairn.Handle(app, "ship", func(_ context.Context, in any) (any, error) { return in, nil })
	return app
}

func (b bank) sum() int {
	sum := 0
	for _, n := range b {
		sum += n
	}
	return sum
}

func TestExplore(t *testing.T) {
	ends := map[string]int{}
	faults := cairntest.Faults{Fail: 0.3, Crash: 0.1, Timeout: 0.1, Late: 0.1, Twice: 0.1, Restart: 0.05, FailOf: map[string]float64{"charge:undo": 0.2}}
	cairntest.Explore(t, cairntest.Exploration{Seeds: 20, Faults: &faults}, func(t *testing.T, env *cairntest.Env) {
		b := bank{}
		cairn.Must(env.Engine.Deploy(context.Background(), order))
		run := cairn.Must(env.Engine.Start(context.Background(), "order", nil, nil))
		env.Run(b.app(), run)
		verdict := env.Expect(run.ID, "done(charge) => done(ship) or undone(charge)")
		ends[verdict.Status]++
		if paid := b.sum(); (verdict.Status == "completed") != (paid == 1) {
			t.Fatalf("%s, and paid is %d", verdict.Status, paid)
		}
	})
	if ends["completed"] == 0 || ends["failed"] == 0 {
		t.Fatal("the faults do not reach both ends", ends)
	}
}

// A run of a function that crashes goes on from what is committed.
func TestExploreFunctions(t *testing.T) {
	faults := cairntest.Faults{Crash: 0.5}
	crashes := 0
	cairntest.Explore(t, cairntest.Exploration{Seeds: 10, Faults: &faults}, func(t *testing.T, env *cairntest.Env) {
		calls, app := map[string]int{}, cairn.NewApp()
		buy := cairn.NewFunction[string, int]("buy", 1, &cairn.FunctionOptions{MaxAttempts: 50}).Handle(app, func(ctx *cairn.Context, _ string) (int, error) {
			sum := 0
			for _, key := range []string{"a", "b", "c"} {
				n, err := cairn.Step(ctx, key, func(context.Context) (int, error) { calls[key]++; return 1, nil }, nil)
				if err != nil {
					return 0, err
				}
				sum += n
			}
			return sum, ctx.Sleep(time.Hour, nil)
		})
		run := cairn.Must(buy.Start(context.Background(), env.Engine, "book", nil))
		env.Run(app, run)
		if got, err := run.Result(context.Background()); err != nil || got != 3 {
			t.Fatal(got, err)
		}
		crashes += calls["a"] + calls["b"] + calls["c"] - 3
	})
	if crashes == 0 {
		t.Fatal("no step was repeated")
	}
}

func TestFaultsThatCannotBe(t *testing.T) {
	env := cairntest.New(t)
	if _, err := cairntest.VerdictOf(env, ""); !errors.Is(err, cairn.ErrWrongState) {
		t.Fatal(err)
	}
}
