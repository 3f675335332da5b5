package reminder

import (
	"context"
	"testing"
	"time"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/cairntest"
)

func TestRemindsAfterThirtyDays(t *testing.T) {
	ctx, app, env := context.Background(), cairn.NewApp(), cairntest.New(t)
	remind := cairn.NewFunction[string, string]("reminder", 1, nil)
	remind.Handle(app, func(ctx *cairn.Context, who string) (string, error) {
		err := ctx.Sleep(30*24*time.Hour, nil)
		return "hello " + who, err
	})
	run := cairn.Must(remind.Start(ctx, env.Engine, "ann", nil))
	env.Work(app)
	env.Advance(29 * 24 * time.Hour)
	if n := env.Work(app); n != 0 {
		t.Fatal("woke too early")
	}
	env.Run(app, run) // skips the last day by itself
	if got := cairn.Must(run.Result(ctx)); got != "hello ann" || !env.Now().Equal(time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC)) {
		t.Fatal(got, env.Now())
	}
}
