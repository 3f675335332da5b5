package cairn_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

func TestAWorkerThatCannotRunSaysSo(t *testing.T) {
	db := anyStore(t)
	handler := func(context.Context, any) (any, error) { return nil, nil }
	apps := map[string]*cairn.App{"none": cairn.NewApp(), "two": cairn.NewApp(), "empty": cairn.NewApp(), "percent": cairn.NewApp(), "many": cairn.NewApp(), "included": cairn.NewApp()}
	cairn.Handle(apps["two"], "a", handler)
	cairn.Handle(apps["two"], "a", handler)
	cairn.Handle(apps["empty"], "", handler)
	cairn.Handle(apps["percent"], "a%b", handler)
	other := cairn.NewApp()
	cairn.Handle(other, "a", handler)
	apps["included"].Include(other)
	cairn.Handle(apps["included"], "a", handler)
	for i := 0; i < 101; i++ {
		cairn.Handle(apps["many"], "t"+strings.Repeat("x", i), handler)
	}
	for name, app := range apps {
		if _, err := db.Work(background, app, cairn.WorkerConfig{UntilIdle: true}); !errors.Is(err, cairn.ErrMisuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cairn.Handle(apps["many"], "t%", handler) // one prefix covers them all
	worker := db.NewWorker(apps["many"], cairn.WorkerConfig{UntilIdle: true})
	if _, err := worker.Run(background); err != nil {
		t.Error(err)
	}
	if _, err := worker.Run(background); !errors.Is(err, cairn.ErrMisuse) {
		t.Error(err)
	}
	if _, err := db.Work(background, other, cairn.WorkerConfig{Runtime: "Go"}); !errors.Is(err, cairn.ErrBadInput) {
		t.Errorf("the runtime: %v", err)
	}
	if err := db.PutRegistry(background, cairn.RegistryEntry{WorkflowName: "a", Runtime: "Go"}); !errors.Is(err, cairn.ErrBadInput) {
		t.Errorf("the registry: %v", err)
	}
	if _, err := db.Work(background, other, cairn.WorkerConfig{Concurrency: -1}); !errors.Is(err, cairn.ErrBadInput) {
		t.Error(err)
	}
}

func TestTheLongestPrefixWinsAndMiddlewareIsNested(t *testing.T) {
	db, ctx, app, other, name := anyStore(t), within(t), cairn.NewApp(), cairn.NewApp(), "route."+unique()
	var lock sync.Mutex
	var seen []string
	say := func(word string) {
		lock.Lock()
		defer lock.Unlock()
		seen = append(seen, word)
	}
	around := func(word string) func(cairn.Handler) cairn.Handler {
		return func(next cairn.Handler) cairn.Handler {
			return func(ctx context.Context, task *cairn.Task) (json.RawMessage, error) {
				say(word)
				return next(ctx, task)
			}
		}
	}
	handler := func(word string) func(context.Context, any) (any, error) {
		return func(context.Context, any) (any, error) { say(word); return nil, nil }
	}
	app.Use(around("1"))
	app.Use(around("2"))
	other.Use(around("3"))
	cairn.Handle(app, name+".%", handler("short"))
	cairn.Handle(app, name+".a.%", handler("long"))
	cairn.Handle(other, name+".a.b", handler("exact"))
	app.Include(other)
	for _, end := range []string{".x", ".a.x", ".a.b"} {
		must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name+end, nil, nil))
	}
	n, err := db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true, Concurrency: 1})
	check(t, err)
	equal(t, "tasks", n, 3)
	equal(t, "calls", strings.Join(seen, " "), "1 2 short 1 2 long 1 2 3 exact")
}

func TestStoppingLetsHandlersFinishAndReleasesTheRest(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "stop."+unique()
		begun, goOn := make(chan bool), make(chan bool)
		cairn.Handle(app, name, func(ctx context.Context, n int) (int, error) {
			begun <- true
			<-goOn
			return n, ctx.Err()
		})
		var jobs []*cairn.JobHandle[json.RawMessage]
		for i := 0; i < 5; i++ {
			jobs = append(jobs, must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, i, nil)))
		}
		stopped := make(chan int)
		stop := start(t, db, app, cairn.WorkerConfig{Concurrency: 1, Prefetch: 10, Grace: time.Minute})
		<-begun
		go func() { stopped <- stop() }()
		// The prefetched ones are given back while the first still runs.
		for i := 1; i < 5; i++ {
			for must[string](t)(jobs[i].Status(ctx)) != "pending" {
				time.Sleep(time.Millisecond)
			}
		}
		close(goOn)
		equal(t, "executed", <-stopped, 1)
		equal(t, "the first", must[string](t)(jobs[0].Status(ctx)), "succeeded")
		row := must[*cairn.Job](t)(jobs[1].Get(ctx))
		equal(t, "attempts of the second", row.Attempt, 0)
	})
}

func TestAHandlerThatIgnoresItsStopIsLeftBehind(t *testing.T) {
	db := anyStore(t)
	ctx, app, name := within(t), cairn.NewApp(), "deaf."+unique()
	begun, goOn := make(chan bool), make(chan bool)
	cairn.Handle(app, name, func(ctx context.Context, n int) (int, error) {
		begun <- true
		<-goOn
		return n, nil
	})
	defer close(goOn)
	job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, 1, nil))
	stop := start(t, db, app, cairn.WorkerConfig{Grace: time.Millisecond})
	<-begun
	stop()
	row := must[*cairn.Job](t)(job.Get(ctx))
	equal(t, "status", row.Status, "pending")
	equal(t, "attempts", row.Attempt, 0)
}

func TestShutdownIsTheCauseAndCostsNoAttempt(t *testing.T) {
	db := anyStore(t)
	ctx, app, name := within(t), cairn.NewApp(), "grace."+unique()
	begun, causes := make(chan bool), make(chan error, 1)
	cairn.Handle(app, name, func(ctx context.Context, n int) (int, error) {
		begun <- true
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return 0, ctx.Err()
	})
	job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, 1, nil))
	stop := start(t, db, app, cairn.WorkerConfig{Grace: time.Millisecond})
	<-begun
	stop()
	var stopped *cairn.StoppedError
	if cause := <-causes; !errors.As(cause, &stopped) || stopped.Reason != "shutdown" {
		t.Error(cause)
	}
	row := must[*cairn.Job](t)(job.Get(ctx))
	equal(t, "job", row.Status+" "+row.LastError, "pending ")
	equal(t, "attempts", row.Attempt, 0)
}

func TestLeasesAreKept(t *testing.T) {
	db := anyStore(t)
	ctx, app, name := within(t), cairn.NewApp(), "lease."+unique()
	var calls atomic.Int32
	var job *cairn.JobHandle[json.RawMessage]
	cairn.Handle(app, name, func(inside context.Context, n int) (int32, error) {
		// A heartbeat comes every third of a lease: by the fourth one the first lease would have ended.
		for beats := 0; beats < 4 && inside.Err() == nil; {
			time.Sleep(50 * time.Millisecond)
			beats = 0
			for _, event := range collect(t, job.Events(ctx)) {
				if event.Type == "heartbeat" {
					beats++
				}
			}
		}
		return calls.Add(1), inside.Err()
	})
	job = must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, 1, nil))
	start(t, db, app, cairn.WorkerConfig{Lease: 3 * time.Second})
	equal(t, "calls", string(must[json.RawMessage](t)(job.Result(ctx))), "1")
}

func TestManyJobsManyHands(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "hands."+unique()
		var sum, running, most atomic.Int64
		cairn.Handle(app, name, func(_ context.Context, n int64) (int64, error) {
			now := running.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			sum.Add(n)
			running.Add(-1)
			return n, nil
		})
		const count = 2000
		specs := make([]cairn.JobSpec, count)
		for i := range specs {
			specs[i] = cairn.JobSpec{Type: name, Payload: i}
		}
		_, err := db.EnqueueMany(ctx, specs)
		check(t, err)
		n, err := db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true, Concurrency: 8, Prefetch: 100})
		check(t, err)
		equal(t, "executed", n, count)
		equal(t, "sum", sum.Load(), count*(count-1)/2)
		if most.Load() > 8 {
			t.Error("handlers at the same time:", most.Load())
		}
		done := collect(t, db.Jobs(ctx, cairn.JobFilter{Type: name, Status: "succeeded"}))
		equal(t, "succeeded", len(done), count)
	})
}

func TestTheEndOfRunsContextIsNotTheHandlers(t *testing.T) {
	db := anyStore(t)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(background, key{}, "kept"))
	app, name := cairn.NewApp(), "context."+unique()
	cairn.Handle(app, name, func(ctx context.Context, _ any) (any, error) {
		cancel()
		time.Sleep(20 * time.Millisecond)
		return ctx.Value(key{}), ctx.Err()
	})
	job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(background, name, nil, nil))
	n, err := db.Work(ctx, app, cairn.WorkerConfig{})
	check(t, err)
	equal(t, "executed", n, 1)
	equal(t, "result", string(must[json.RawMessage](t)(job.Result(within(t)))), `"kept"`)
}

// logLines keeps what is logged.
type logLines struct {
	sync.Mutex
	strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(p)
}

func TestLogsCarryTheTask(t *testing.T) {
	var lines logLines
	url := "memory:"
	if cairn.LibraryVersion() == "" {
		url = httpURL(t)
	}
	db := open(t, cairn.Config{URL: url, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	ctx, app, name := within(t), cairn.NewApp(), "log."+unique()
	cairn.Handle(app, name, func(ctx context.Context, _ any) (any, error) {
		cairn.TaskFrom(ctx).Logger.With("more", 1).Info("hello")
		return nil, cairn.Dead(errors.New("bad"))
	})
	job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, nil, &cairn.JobOptions{Key: "key-" + name}))
	work(t, db, app)
	for _, want := range []string{"level=INFO msg=hello more=1 task=" + job.ID, "key=key-" + name, "attempt=1", "worker=", "level=ERROR", "error=bad"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log lacks %q: %s", want, lines.String())
		}
	}
}

// upper is a codec that changes texts, as one that encrypts would.
type upper struct{}

func (upper) Encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return []byte(`{"sealed":` + string(text) + `}`), err
}

func (upper) Decode(data []byte, v any) error {
	var sealed struct{ Sealed json.RawMessage }
	if err := json.Unmarshal(data, &sealed); err != nil {
		return err
	}
	return json.Unmarshal(sealed.Sealed, v)
}

func TestACodecOfOnesOwn(t *testing.T) {
	url := "memory:"
	if cairn.LibraryVersion() == "" {
		url = httpURL(t)
	}
	db := open(t, cairn.Config{URL: url, Codec: upper{}})
	ctx, app := within(t), cairn.NewApp()
	task := cairn.NewTask[string, int]("codec."+unique()).Handle(app, func(_ context.Context, s string) (int, error) { return len(s), nil })
	job := must[*cairn.JobHandle[int]](t)(task.Enqueue(ctx, db, "four", nil))
	work(t, db, app)
	equal(t, "result", must[int](t)(job.Result(ctx)), 4)
	row := must[*cairn.Job](t)(job.Get(ctx))
	equal(t, "stored", string(row.Payload)+string(row.Result), `{"sealed":"four"}{"sealed":4}`)
}
