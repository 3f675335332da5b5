package cairn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

// define registers a function with one version and a name of its own.
func define[P, R any](app *cairn.App, fn func(*cairn.Context, P) (R, error)) *cairn.FunctionType[P, R] {
	return cairn.NewFunction[P, R]("function-"+unique(), 1, nil).Handle(app, fn)
}

func TestAFunctionRemembersItsSteps(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		var runs, calls atomic.Int32
		f := define(app, func(c *cairn.Context, item string) (string, error) {
			runs.Add(1)
			out, err := cairn.Step(c, "charge", func(ctx context.Context) (object, error) {
				calls.Add(1)
				c.Log(slog.LevelInfo, "charging", "item", item)
				return object{"item": item, "key": cairn.TaskFrom(ctx).Key}, nil
			}, nil)
			if err != nil {
				return "", err
			}
			at, err := c.Now()
			if err != nil {
				return "", err
			}
			if err := c.Sleep(10*time.Millisecond, nil); err != nil {
				return "", err
			}
			random, err := c.Random()
			if err != nil || random < 0 || random >= 1 || at.IsZero() {
				return "", fmt.Errorf("random %v, now %v: %w", random, at, err)
			}
			id, err := c.UUID()
			if err != nil || len(id) != 36 {
				return "", fmt.Errorf("uuid %q: %w", id, err)
			}
			packed, err := cairn.WaitEvent[string](c, "packed", nil)
			if out["key"] != c.InstanceID()+":charge" {
				return "", fmt.Errorf("the key of the effect is %v", out["key"])
			}
			return fmt.Sprint(out["item"], " ", packed, " ", c.Version()), err
		})
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, "book", nil))
		start(t, db, app, cairn.WorkerConfig{})
		must[*cairn.Signalled](t)(run.Signal(ctx, "packed", "parcel 1", nil))
		equal(t, "result", must[string](t)(run.Result(ctx)), "book parcel 1 1")
		equal(t, "calls of the step", calls.Load(), 1)
		if runs.Load() < 2 {
			t.Error("the sleep did not suspend it")
		}
		logs := collect(t, run.Logs(ctx))
		if len(logs) != 1 || logs[0].Message != "charging" || logs[0].Step != "charge" || !strings.Contains(string(logs[0].Data), "book") {
			t.Error("logs:", logs)
		}
	})
}

func TestAStepIsRetriedAndFails(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		busy := errors.New("busy")
		quick := &cairn.StepOptions{Retries: number[int32](2), Backoff: &cairn.Backoff{Kind: "fixed", Base: time.Millisecond}}
		f := define(app, func(c *cairn.Context, after int32) (string, error) {
			n, err := cairn.Step(c, "try", func(ctx context.Context) (int32, error) {
				if attempt := cairn.TaskFrom(ctx).Attempt; attempt <= after {
					return 0, busy
				}
				return cairn.TaskFrom(ctx).Attempt, nil
			}, quick)
			var failed *cairn.StepFailedError
			if errors.As(err, &failed) {
				return fmt.Sprintf("%s %s %d %t %t", failed.Key, failed.Message, failed.Attempts, errors.Is(err, cairn.ErrStepFailed), errors.Is(err, busy)), nil
			}
			return fmt.Sprint(n), err
		})
		dead := define(app, func(c *cairn.Context, _ any) (any, error) {
			return cairn.Step(c, "die", func(ctx context.Context) (any, error) { return nil, cairn.Dead(busy) }, nil)
		})
		own := define(app, func(c *cairn.Context, _ any) (any, error) { return nil, errors.New("my own") })
		panics := define(app, func(c *cairn.Context, _ any) (any, error) { panic("oh") })
		good := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, 2, nil))
		bad := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, 3, nil))
		die := must[*cairn.InstanceHandle[any]](t)(dead.Start(ctx, db, nil, nil))
		mine := must[*cairn.InstanceHandle[any]](t)(own.Start(ctx, db, nil, nil))
		oh := must[*cairn.InstanceHandle[any]](t)(panics.Start(ctx, db, nil, nil))
		start(t, db, app, cairn.WorkerConfig{})
		equal(t, "good", must[string](t)(good.Result(ctx)), "3")
		equal(t, "bad", must[string](t)(bad.Result(ctx)), "try busy 3 true true")
		for run, want := range map[*cairn.InstanceHandle[any]]string{die: "die: busy", mine: ": my own", oh: ": panic: oh"} {
			_, err := run.Result(ctx)
			var ended *cairn.EndedError
			if !errors.As(err, &ended) {
				t.Fatal(err)
			}
			last := ended.Instance.LastError
			if got := last.Step + ": " + last.Message; !strings.HasSuffix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

func TestTheStepsOfAFunctionAreUndone(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, refund := within(t), cairn.NewApp(), "refund."+unique()
		undone := make(chan string, 1)
		f := define(app, func(c *cairn.Context, item string) (string, error) {
			undo := &cairn.StepOptions{Input: item, Compensation: &cairn.Compensation{Handler: refund}}
			if _, err := cairn.Step(c, "charge", func(context.Context) (int, error) { return 420, nil }, undo); err != nil {
				return "", err
			}
			return cairn.WaitEvent[string](c, "packed", &cairn.WaitOptions{Timeout: 5 * time.Millisecond})
		})
		cairn.Handle(app, refund, func(_ context.Context, u cairn.Undo[string, int]) (any, error) {
			undone <- fmt.Sprint(u.Input, *u.Output)
			return nil, nil
		})
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, "piano", nil))
		start(t, db, app, cairn.WorkerConfig{})
		equal(t, "undone", <-undone, "piano420")
		if _, err := run.Result(ctx); !errors.Is(err, cairn.ErrFailed) {
			t.Error(err)
		}
	})
}

func TestACompensationHasOptionsOfItsOwn(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, refund := within(t), cairn.NewApp(), "refund."+unique()
		undone := make(chan string, 10)
		f := define(app, func(c *cairn.Context, item string) (int, error) {
			bad := &cairn.StepOptions{Compensation: &cairn.Compensation{Handler: refund, Retry: &cairn.Backoff{Kind: "odd"}}}
			if _, err := cairn.Step(c, "bad", func(context.Context) (int, error) { return 1, nil }, bad); !errors.Is(err, cairn.ErrBadInput) {
				return 0, fmt.Errorf("it is %v", err)
			}
			bad = &cairn.StepOptions{Compensation: &cairn.Compensation{Handler: refund, Metadata: map[string]any{"f": func() {}}}}
			if _, err := cairn.Step(c, "bad", func(context.Context) (int, error) { return 1, nil }, bad); !errors.Is(err, cairn.ErrBadPayload) {
				return 0, fmt.Errorf("metadata that is no JSON: %v", err)
			}
			options := &cairn.StepOptions{Compensation: &cairn.Compensation{Handler: refund, MaxAttempts: number[int32](5), Timeout: time.Hour,
				Retry: &cairn.Backoff{Kind: "fixed", Base: time.Millisecond, Jitter: 0.5}, Metadata: map[string]any{"n": 1}}}
			if item == "once" {
				options.Compensation = &cairn.Compensation{Handler: refund, Once: true}
			}
			if _, err := cairn.Step(c, "charge", func(context.Context) (int, error) { return 420, nil }, options); err != nil {
				return 0, err
			}
			return 0, errors.New("too late")
		})
		cairn.Handle(app, refund, func(ctx context.Context, _ cairn.Undo[any, int]) (any, error) {
			task := cairn.TaskFrom(ctx)
			undone <- fmt.Sprintf("%d %d %s %v", task.Attempt, task.MaxAttempts, task.Metadata, !task.Deadline.IsZero())
			if task.Attempt < 5 {
				return nil, errors.New("not yet")
			}
			return nil, nil
		})
		start(t, db, app, cairn.WorkerConfig{})
		for item, calls := range map[string]int{"own": 5, "once": 1} {
			run := must[*cairn.InstanceHandle[int]](t)(f.Start(ctx, db, item, nil))
			for n := 1; n <= calls; n++ {
				want := map[string]string{"own": fmt.Sprintf("%d 5 {\"n\":1} true", n), "once": "1 1  false"}[item]
				equal(t, item, strings.ReplaceAll(<-undone, `": `, `":`), want)
			}
			if _, err := run.Result(ctx); !errors.Is(err, cairn.ErrFailed) {
				t.Error(err)
			}
		}
		equal(t, "further calls", len(undone), 0)
	})
}

func TestAFunctionStartsOthers(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "child."+unique()
		cairn.Handle(app, name, func(_ context.Context, n int) (int, error) { return n, nil })
		child := define(app, func(c *cairn.Context, n int) (int, error) { return n * 2, nil })
		parent := define(app, func(c *cairn.Context, n int) ([]string, error) {
			job, err := c.Enqueue(name, n, &cairn.ChildOptions{Job: &cairn.JobOptions{Key: name}})
			if err != nil {
				return nil, err
			}
			instance, err := c.Start(child.Name, n, nil)
			if err != nil {
				return nil, err
			}
			return []string{job, instance}, c.Sleep(time.Millisecond, nil)
		})
		must[*cairn.InstanceHandle[int]](t)(child.Start(ctx, db, 0, nil)) // so that it is known
		run := must[*cairn.InstanceHandle[[]string]](t)(parent.Start(ctx, db, 21, nil))
		start(t, db, app, cairn.WorkerConfig{})
		ids := must[[]string](t)(run.Result(ctx))
		equal(t, "job", must[int](t)(cairn.JobOf[int](db, ids[0]).Result(ctx)), 21)
		equal(t, "instance", must[int](t)(cairn.InstanceOf[int](db, ids[1]).Result(ctx)), 42)
		equal(t, "jobs", len(collect(t, db.Jobs(ctx, cairn.JobFilter{Type: name}))), 1)
	})
}

func TestAFunctionCallsAnother(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		child := define(app, func(c *cairn.Context, n int) (int, error) {
			if n < 0 {
				return 0, errors.New("negative")
			}
			return n * 2, c.Sleep(time.Millisecond, nil)
		})
		parent := define(app, func(c *cairn.Context, n int) (string, error) {
			value, err := cairn.Call(c, child, n, nil)
			if n < 0 {
				value, err = cairn.CallWorkflow[int](c, child.Name, n, &cairn.ChildOptions{Key: "by name"})
			}
			if errors.Is(err, cairn.ErrUnsupported) {
				return "unsupported", nil
			}
			if errors.Is(err, cairn.ErrStepFailed) {
				return "failed: " + err.Error(), nil
			}
			return fmt.Sprint(value), err
		})
		must[*cairn.InstanceHandle[int]](t)(child.Start(ctx, db, 0, nil)) // so that it is known
		good := must[*cairn.InstanceHandle[string]](t)(parent.Start(ctx, db, 21, nil))
		bad := must[*cairn.InstanceHandle[string]](t)(parent.Start(ctx, db, -1, nil))
		start(t, db, app, cairn.WorkerConfig{})
		if must[string](t)(good.Result(ctx)) == "unsupported" {
			return // the library has no calls of children yet
		}
		equal(t, "good", must[string](t)(good.Result(ctx)), "42")
		if got := must[string](t)(bad.Result(ctx)); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, "negative") {
			t.Error(got)
		}
	})
}

func TestStepsSideBySide(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		both := make(chan bool)
		var calls atomic.Int32
		meet := func(word string, first bool) func(context.Context) (string, error) {
			return func(context.Context) (string, error) {
				calls.Add(1)
				if first {
					both <- true
				} else {
					<-both
				}
				return word, nil
			}
		}
		f := define(app, func(c *cairn.Context, _ any) (string, error) {
			var a, b string
			if err := cairn.Gather(c, cairn.Go("a", &a, meet("A", true), nil), cairn.Go("b", &b, meet("B", false), nil)); err != nil {
				return "", err
			}
			return a + b, c.Sleep(time.Millisecond, nil)
		})
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, nil, nil))
		start(t, db, app, cairn.WorkerConfig{})
		equal(t, "result", must[string](t)(run.Result(ctx)), "AB")
		equal(t, "calls", calls.Load(), 2)
		var names []string
		for _, step := range collect(t, run.Steps(ctx)) {
			names = append(names, step.Name)
		}
		equal(t, "order", strings.Join(names[1:], " "), "a b sleep")
	})
}

func TestASecondCallAtTheSameTimeIsMisuse(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		f := define(app, func(c *cairn.Context, _ any) (string, error) {
			var inner error
			_, err := cairn.Step(c, "outer", func(context.Context) (any, error) {
				_, inner = cairn.Step(c, "inner", func(context.Context) (any, error) { return nil, nil }, nil)
				return nil, nil
			}, nil)
			if err != nil {
				return "", err
			}
			return inner.Error(), nil
		})
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, nil, nil))
		start(t, db, app, cairn.WorkerConfig{})
		got := must[string](t)(run.Result(ctx))
		if !strings.Contains(got, `"inner"`) || !strings.Contains(got, `"outer"`) {
			t.Error(got)
		}
	})
}

func TestASwallowedSuspensionComesBack(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		var lock sync.Mutex
		var second []error
		f := define(app, func(c *cairn.Context, _ any) (string, error) {
			if err := c.Sleep(20*time.Millisecond, nil); errors.Is(err, cairn.ErrSuspended) {
				_, again := c.Now()
				lock.Lock()
				second = append(second, again)
				lock.Unlock()
				return "swallowed", nil
			}
			return "awake", nil
		})
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, nil, nil))
		start(t, db, app, cairn.WorkerConfig{})
		equal(t, "result", must[string](t)(run.Result(ctx)), "awake")
		lock.Lock()
		defer lock.Unlock()
		if len(second) == 0 || !errors.Is(second[0], cairn.ErrSuspended) {
			t.Error(second)
		}
	})
}

func TestOtherCodePausesTheInstance(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "function-"+unique()
		first, second := cairn.NewApp(), cairn.NewApp()
		named := func(app *cairn.App, key string) *cairn.FunctionType[any, string] {
			return cairn.NewFunction[any, string](name, 1, nil).Handle(app, func(c *cairn.Context, _ any) (string, error) {
				out, err := cairn.Step(c, key, func(context.Context) (string, error) { return key, nil }, nil)
				if err != nil {
					return "", err
				}
				_, err = cairn.WaitEvent[any](c, "go", nil)
				return out, err
			})
		}
		run := must[*cairn.InstanceHandle[string]](t)(named(first, "old").Start(ctx, db, nil, nil))
		named(second, "new")
		work(t, db, first)
		must[*cairn.Signalled](t)(run.Signal(ctx, "go", nil, nil))
		work(t, db, second)
		row := must[*cairn.Instance](t)(run.Get(ctx))
		if row.Status != "paused" || row.LastError == nil || !strings.Contains(row.LastError.Message, "version_mismatch") {
			t.Error(row.Status, row.LastError)
		}
		check(t, run.Resume(ctx, true))
		work(t, db, second)
		work(t, db, second)
		equal(t, "result", must[string](t)(run.Result(ctx)), "new")
	})
}

func TestVersionsOfAFunction(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "function-"+unique()
		say := func(word string) func(*cairn.Context, any) (string, error) {
			return func(c *cairn.Context, _ any) (string, error) { return fmt.Sprint(word, c.Version()), nil }
		}
		one := cairn.NewFunction[any, string](name, 1, nil)
		two := cairn.NewFunction[any, string](name, 2, nil)
		cairn.NewFunction[any, string](name, 3, &cairn.FunctionOptions{FromVersion: 2, CommitPassage: true, MaxAttempts: 5}).Handle(app, say("three "))
		one.Handle(app, say("one "))
		a := must[*cairn.InstanceHandle[string]](t)(one.Start(ctx, db, nil, nil))
		b := must[*cairn.InstanceHandle[string]](t)(two.Start(ctx, db, nil, nil))
		work(t, db, app)
		equal(t, "version 1", must[string](t)(a.Result(ctx)), "one 1")
		equal(t, "version 2", must[string](t)(b.Result(ctx)), "three 2")
	})
}

func TestAWorkerThatEndsGivesAFunctionBack(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "next."+unique()
		begun, goOn := make(chan bool, 1), make(chan bool, 1)
		var calls atomic.Int32
		f := define(app, func(c *cairn.Context, _ any) (string, error) {
			first, err := cairn.Step(c, "first", func(context.Context) (int32, error) {
				begun <- true
				<-goOn
				return calls.Add(1), nil
			}, nil)
			if err != nil {
				return "", err
			}
			second, err := cairn.Step(c, "second", func(context.Context) (int32, error) { return calls.Add(1), nil }, nil)
			return fmt.Sprint(first, " ", second), err
		})
		cairn.Handle(app, name, func(context.Context, any) (any, error) { return nil, nil })
		run := must[*cairn.InstanceHandle[string]](t)(f.Start(ctx, db, nil, nil))
		stop := start(t, db, app, cairn.WorkerConfig{Concurrency: 1, Prefetch: 1})
		<-begun
		ahead := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, nil, nil))
		until(t, ahead, "leased")
		stopped := make(chan bool)
		go func() { stop(); close(stopped) }()
		until(t, ahead, "pending") // what was claimed ahead is given back: the worker has heard its stop
		goOn <- true
		<-stopped
		equal(t, "status", must[string](t)(run.Status(ctx)), "running")
		equal(t, "calls", calls.Load(), 1)
		work(t, db, app)
		equal(t, "result", must[string](t)(run.Result(ctx)), "1 2")
	})
}

// until waits for a job's status.
func until(t *testing.T, job *cairn.JobHandle[json.RawMessage], status string) {
	t.Helper()
	for ctx := within(t); must[string](t)(job.Status(ctx)) != status; {
		time.Sleep(time.Millisecond)
	}
}
