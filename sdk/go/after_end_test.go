package cairn_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

// A Context that is used while its run ends, or later.

func answerOne(context.Context) (int, error) { return 1, nil }

// askers are all calls of a Context, but Log, which answers nothing.
var askers = map[string]func(c *cairn.Context) error{
	"step":       func(c *cairn.Context) error { _, err := cairn.Step(c, "a", answerOne, nil); return err },
	"sleep":      func(c *cairn.Context) error { return c.Sleep(0, nil) },
	"sleepUntil": func(c *cairn.Context) error { return c.SleepUntil(time.Unix(1, 0), nil) },
	"waitEvent":  func(c *cairn.Context) error { _, err := cairn.WaitEvent[int](c, "paid", nil); return err },
	"now":        func(c *cairn.Context) error { _, err := c.Now(); return err },
	"random":     func(c *cairn.Context) error { _, err := c.Random(); return err },
	"uuid":       func(c *cairn.Context) error { _, err := c.UUID(); return err },
	"enqueue":    func(c *cairn.Context) error { _, err := c.Enqueue("mail.v1", 1, nil); return err },
	"start":      func(c *cairn.Context) error { _, err := c.Start("kid", nil, nil); return err },
	"call":       func(c *cairn.Context) error { _, err := cairn.CallWorkflow[int](c, "kid", nil, nil); return err },
	"gather": func(c *cairn.Context) error {
		var g, h int
		return cairn.Gather(c, cairn.Go("g", &g, answerOne, nil), cairn.Go("h", &h, answerOne, nil))
	},
}

func TestEveryCallAfterTheEndIsMisuse(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		var kept *cairn.Context
		f := define(app, func(c *cairn.Context, _ int) (int, error) {
			kept = c
			return 7, nil
		})
		run := must[*cairn.InstanceHandle[int]](t)(f.Start(ctx, db, 1, nil))
		start(t, db, app, cairn.WorkerConfig{})
		if got := must[int](t)(run.Result(ctx)); got != 7 {
			t.Fatal(got)
		}
		for name, ask := range askers {
			if err := ask(kept); !errors.Is(err, cairn.ErrMisuse) || !strings.Contains(err.Error(), "has ended") {
				t.Errorf("%s: %v", name, err)
			}
		}
		kept.Log(slog.LevelInfo, "too late")
		kept.Log(slog.LevelInfo, "too late")
		if kept.InstanceID() != run.ID || kept.Version() != 1 {
			t.Error(kept.InstanceID(), kept.Version())
		}
	})
}

func TestAStepThatIsLeftBehindIsWaitedForAndFailsTheRun(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		told := make(chan error, 2)
		f := define(app, func(c *cairn.Context, asksTwice bool) (int, error) {
			begun, hasReturned := make(chan struct{}), make(chan struct{})
			go func() {
				_, err := cairn.Step(c, "a", func(context.Context) (int, error) {
					close(begun)
					<-hasReturned
					for errors.Is(c.Sleep(0, nil), cairn.ErrMisuse) && !strings.Contains(c.Sleep(0, nil).Error(), "has ended") {
						runtime.Gosched() // until the run waits for this code
					}
					return 1, nil
				}, nil)
				told <- err
			}()
			<-begun
			defer close(hasReturned)
			if asksTwice {
				_, err := cairn.Step(c, "b", answerOne, nil)
				return 0, err
			}
			return 7, nil
		})
		start(t, db, app, cairn.WorkerConfig{})
		for asksTwice, says := range map[bool][]string{true: {`"a"`, `"b"`}, false: {`"a"`}} {
			run := must[*cairn.InstanceHandle[int]](t)(f.Start(ctx, db, asksTwice, nil))
			_, err := run.Result(ctx)
			for _, name := range says {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Fatalf("%v: %v", asksTwice, err)
				}
			}
			if err := <-told; !errors.Is(err, cairn.ErrMisuse) {
				t.Error(err)
			}
			run.Steps(ctx)(func(step *cairn.StepInfo, err error) bool {
				if err != nil || step.Kind == "task" {
					t.Error("stored:", step, err)
				}
				return err == nil
			})
		}
	})
}

func TestAStepThatDoesNotEndIsWaitedForAsLongAsTheLease(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		mayEnd, told := make(chan struct{}), make(chan error, 1)
		f := define(app, func(c *cairn.Context, _ int) (int, error) {
			begun := make(chan struct{})
			go func() {
				_, err := cairn.Step(c, "a", func(context.Context) (int, error) {
					close(begun)
					<-mayEnd
					return 1, nil
				}, nil)
				told <- err
			}()
			<-begun
			return 7, nil
		})
		start(t, db, app, cairn.WorkerConfig{Lease: 500 * time.Millisecond})
		run := must[*cairn.InstanceHandle[int]](t)(f.Start(ctx, db, 1, nil))
		if _, err := run.Result(ctx); err == nil || !strings.Contains(err.Error(), `"a" is under way`) {
			t.Error(err)
		}
		close(mayEnd)
		if err := <-told; !errors.Is(err, cairn.ErrMisuse) {
			t.Error(err)
		}
	})
}

// Never a signal, and no race: a call is answered with a value, an error of its own, or ErrMisuse.
func TestAThousandInterleavingsOfEveryCallWithTheEnd(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		asks := make([]func(c *cairn.Context) error, 0, len(askers)+1)
		for _, ask := range askers {
			asks = append(asks, ask)
		}
		asks = append(asks, func(c *cairn.Context) error { c.Log(slog.LevelInfo, "x"); return nil })
		var left sync.WaitGroup
		begun := make(chan struct{}, 10000)
		f := define(app, func(c *cairn.Context, turns int) (int, error) {
			for range 10 {
				left.Add(1)
				go func() {
					defer left.Done()
					for range rand.IntN(4) {
						_ = asks[rand.IntN(len(asks))](c)
					}
				}()
			}
			begun <- struct{}{}
			for range turns {
				runtime.Gosched()
			}
			return 1, nil
		})
		start(t, db, app, cairn.WorkerConfig{})
		for i := range 100 {
			must[*cairn.InstanceHandle[int]](t)(f.Start(ctx, db, i%5, nil))
		}
		for range 100 {
			<-begun
		}
		left.Wait()
	})
}
