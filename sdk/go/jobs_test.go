package cairn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

type order struct {
	ID   int    `json:"id"`
	Note string `json:"note,omitempty"`
}

func TestAJobIsRecordedOnceAndExecuted(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app := within(t), cairn.NewApp()
		invoice := cairn.NewTask[order, string]("invoice."+unique()).Handle(app, func(_ context.Context, o order) (string, error) {
			return fmt.Sprintf("%d <%s>", o.ID, o.Note), nil
		})
		options := &cairn.JobOptions{Key: unique()}
		job := must[*cairn.JobHandle[string]](t)(invoice.Enqueue(ctx, db, order{17, "é"}, options))
		again := must[*cairn.JobHandle[string]](t)(invoice.Enqueue(ctx, db, order{18, ""}, options))
		equal(t, "the second is the first", again.ID, job.ID)
		equal(t, "existing", fmt.Sprint(job.Existing, again.Existing), "false true")
		equal(t, "tasks", work(t, db, app), 1)
		equal(t, "result", must[string](t)(again.Result(ctx)), "17 <é>")
		row := must[*cairn.Job](t)(job.Get(ctx))
		equal(t, "status", row.Status, "succeeded")
		equal(t, "key", row.Key, options.Key)
		if row.CreatedAt.IsZero() || !row.LeaseUntil.IsZero() {
			t.Error("times:", row.CreatedAt, row.LeaseUntil)
		}
		var types []string
		for _, event := range collect(t, job.Events(ctx)) {
			types = append(types, event.Type)
		}
		equal(t, "events", strings.Join(types, " "), "created leased started succeeded")
	})
}

func TestAJobHasItsOwnTimeoutAndRetries(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx := within(t)
		options := &cairn.JobOptions{Timeout: 1500 * time.Millisecond, Retry: &cairn.Backoff{Kind: "fixed", Base: 2 * time.Second, Jitter: 0.5}}
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, "limited."+unique(), nil, options))
		row := must[*cairn.Job](t)(job.Get(ctx))
		equal(t, "timeout", row.TimeoutMS, int64(1500))
		var retry map[string]any
		if err := json.Unmarshal(row.Retry, &retry); err != nil {
			t.Fatal(err)
		}
		equal(t, "retry", fmt.Sprintln(retry["backoff"], retry["base_ms"], retry["max_ms"], retry["jitter"]), "fixed 2000 300000 0.5\n")
		plain := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, "limited."+unique(), nil, nil))
		row = must[*cairn.Job](t)(plain.Get(ctx))
		equal(t, "neither", fmt.Sprintln(row.TimeoutMS, string(row.Retry)), "0 null\n")
	})
}

func TestPayloadsComeBackAsTheyWere(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "echo."+unique()
		cairn.Handle(app, name, func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
		values := map[string]any{`{}`: nil, `null`: raw("null"), `9223372036854775807`: int64(1<<63 - 1), `"é"`: "é", `[]`: []int{}, `"a<b>&c"`: "a<b>&c"}
		jobs := map[string]*cairn.JobHandle[json.RawMessage]{}
		for want, payload := range values {
			jobs[want] = must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, payload, nil))
		}
		work(t, db, app)
		for want, job := range jobs {
			got := must[json.RawMessage](t)(job.Result(ctx))
			equal(t, "result", string(got), want)
		}
	})
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "number."+unique()
		cairn.Handle(app, name, func(_ context.Context, in map[string]any) (any, error) {
			return fmt.Sprintf("%T %v", in["n"], in["n"]), nil
		})
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, raw(`{"n":12345678901234567890}`), nil))
		work(t, db, app)
		equal(t, "result", string(must[json.RawMessage](t)(job.Result(ctx))), `"json.Number 12345678901234567890"`)
	})
}

func TestManyJobsAreListedInPages(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "many."+unique()
		specs := make([]cairn.JobSpec, 250)
		for i := range specs {
			specs[i] = cairn.JobSpec{Type: name, Payload: i, Options: &cairn.JobOptions{Delay: time.Hour}}
		}
		handles := must[[]*cairn.JobHandle[json.RawMessage]](t)(db.EnqueueMany(ctx, specs))
		jobs := collect(t, db.Jobs(ctx, cairn.JobFilter{Type: name}))
		equal(t, "handles", len(handles), 250)
		equal(t, "jobs", len(jobs), 250)
		equal(t, "newest first", jobs[0].ID, handles[249].ID)
		equal(t, "limit", len(collect(t, db.Jobs(ctx, cairn.JobFilter{Type: name, Limit: 101}))), 101)
		if left := jobs[0].RunAt.Sub(jobs[0].CreatedAt); left < 59*time.Minute {
			t.Error("the delay was lost:", left)
		}
	})
}

func TestOutcomes(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "outcome."+unique()
		released := false
		cairn.Handle(app, name, func(ctx context.Context, what string) (any, error) {
			switch what {
			case "retry":
				if cairn.TaskFrom(ctx).Attempt < 3 {
					return nil, fmt.Errorf("wrapped: %w", cairn.Retry(errors.New("busy"), 0))
				}
				return cairn.TaskFrom(ctx).Attempt, nil
			case "dead":
				return nil, cairn.Dead(errors.New("never"))
			case "release":
				if !released {
					released = true
					return nil, cairn.Release(0)
				}
				return cairn.TaskFrom(ctx).Attempt, nil
			case "panic":
				panic("oh")
			case "wait":
				return nil, cairn.WaitFor("x", 0)
			case "nothing":
				return nil, nil
			case "empty":
				return struct{}{}, nil
			}
			return make(chan int), nil
		})
		jobs := map[string]*cairn.JobHandle[json.RawMessage]{}
		for _, what := range []string{"retry", "dead", "release", "panic", "wait", "nothing", "empty", "channel"} {
			options := &cairn.JobOptions{MaxAttempts: 1}
			if what == "retry" {
				options.MaxAttempts = 3
			}
			jobs[what] = must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, what, options))
		}
		work(t, db, app)
		for what, want := range map[string]string{"retry": "3", "release": "1", "nothing": "null", "empty": "{}"} {
			equal(t, what, string(must[json.RawMessage](t)(jobs[what].Result(ctx))), want)
		}
		for what, want := range map[string]string{"dead": "never", "panic": "panic: oh", "wait": "Misuse: ", "channel": "BadPayload: "} {
			_, err := jobs[what].Result(ctx)
			var ended *cairn.EndedError
			if !errors.Is(err, cairn.ErrFailed) || !errors.As(err, &ended) || !strings.HasPrefix(ended.Job.LastError, want) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestAPayloadThatDoesNotFitEndsItsTask(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "fit."+unique()
		cairn.Handle(app, name, func(context.Context, order) (any, error) {
			t.Error("the handler was called")
			return nil, nil
		})
		pay := cairn.NewFunction[string, int]("pay."+unique(), 1, nil).Handle(app, func(c *cairn.Context, event string) (int, error) {
			return cairn.WaitEvent[int](c, event, nil)
		})
		jobs := []*cairn.JobHandle[json.RawMessage]{
			must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, "much", nil)),
			must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, raw(`{"id":"much"}`), nil)),
		}
		flow := cairn.NewWorkflow(name+".flow", 1)
		flow.Step("ship", &cairn.StepSpec{Handler: name})
		must[*cairn.Deployed](t)(db.Deploy(ctx, flow))
		runs := []*cairn.InstanceHandle[json.RawMessage]{
			must[*cairn.InstanceHandle[json.RawMessage]](t)(db.Start(ctx, name+".flow", raw(`{"id":[]}`), nil)),
			cairn.InstanceOf[json.RawMessage](db, must[*cairn.InstanceHandle[int]](t)(pay.Start(ctx, db, "paid", nil)).ID),
		}
		must[*cairn.Signalled](t)(runs[1].Signal(ctx, "paid", "much", nil))
		work(t, db, app)
		for i, want := range []string{"BadPayload: expected cairn_test.order, got text", "BadPayload: id: expected int, got text"} {
			row := must[*cairn.Job](t)(jobs[i].Get(ctx))
			if row.Status != "failed" || row.Attempt != 1 || row.LastError != want {
				t.Error(row.Status, row.Attempt, row.LastError)
			}
		}
		for i, want := range []string{"BadPayload: id: expected int, got a list", "BadPayload: expected int, got text"} {
			row := must[*cairn.Instance](t)(runs[i].Get(ctx))
			if row.Status != "failed" || row.LastError == nil || row.LastError.Message != want {
				t.Error(row.Status, row.LastError)
			}
		}
	})
}

func TestAResultThatIsTooLargeIsAFailedAttempt(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "large."+unique()
		cairn.Handle(app, name, func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil })
		large := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, 1<<20, &cairn.JobOptions{MaxAttempts: 1}))
		small := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, 10, &cairn.JobOptions{MaxAttempts: 1}))
		work(t, db, app)
		equal(t, "small", must[string](t)(small.Status(ctx)), "succeeded")
		row := must[*cairn.Job](t)(large.Get(ctx))
		if row.Status != "failed" || !strings.HasPrefix(row.LastError, "BadPayload: ") {
			t.Error(row.Status, row.LastError)
		}
		_, err := db.Enqueue(ctx, name, strings.Repeat("x", 1<<20), nil)
		if !errors.Is(err, cairn.ErrTooLarge) {
			t.Error(err)
		}
	})
}

func TestACancelledJobStopsItsHandler(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "cancel."+unique()
		started, causes := make(chan bool), make(chan error)
		cairn.Handle(app, name, func(ctx context.Context, _ any) (any, error) {
			started <- true
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		})
		start(t, db, app, cairn.WorkerConfig{})
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, nil, nil))
		<-started
		check(t, job.Cancel(ctx))
		var stopped *cairn.StoppedError
		if cause := <-causes; !errors.As(cause, &stopped) || stopped.Reason != "cancelled" {
			t.Error(cause)
		}
		_, err := job.Result(ctx)
		if !errors.Is(err, cairn.ErrCancelled) {
			t.Error(err)
		}
		if err := job.Cancel(ctx); !errors.Is(err, cairn.ErrWrongState) {
			t.Error(err)
		}
		check(t, job.Delete(ctx))
		equal(t, "listed", len(collect(t, db.Jobs(ctx, cairn.JobFilter{Type: name}))), 0)
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(background, "nobody."+unique(), nil, nil))
		ctx, cancel := context.WithCancel(background)
		ended := make(chan error)
		go func() {
			_, err := job.Result(ctx)
			ended <- err
		}()
		time.AfterFunc(50*time.Millisecond, cancel)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := db.Enqueue(ctx, "x", nil, nil); !errors.Is(err, context.Canceled) {
			t.Error("a call began though its context had ended:", err)
		}
	})
}

func TestClosingEndsCallsAndWorkers(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(background, "nobody."+unique(), nil, nil))
		app := cairn.NewApp()
		cairn.Handle(app, "other."+unique(), func(context.Context, any) (any, error) { return nil, nil })
		waited, worked := make(chan error), make(chan error)
		go func() {
			_, err := job.Wait(background)
			waited <- err
		}()
		go func() {
			_, err := db.Work(background, app, cairn.WorkerConfig{})
			worked <- err
		}()
		time.Sleep(20 * time.Millisecond) // in either order it must end well
		check(t, db.Close())
		check(t, db.Close())
		if err := <-waited; !errors.Is(err, cairn.ErrClosed) {
			t.Error("wait:", err)
		}
		if err := <-worked; err != nil && !errors.Is(err, cairn.ErrClosed) {
			t.Error("work:", err)
		}
		if _, err := job.Get(background); !errors.Is(err, cairn.ErrClosed) {
			t.Error("get:", err)
		}
	})
}

func TestErrorsHaveCodes(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx := within(t)
		_, err := cairn.JobOf[any](db, "01a1dec7-efb7-7ec4-9552-89f8c861b737").Get(ctx)
		var known *cairn.Error
		if !errors.Is(err, cairn.ErrNotFound) || !errors.As(err, &known) || known.HTTPStatus != 404 || known.Retryable() {
			t.Error(err)
		}
		if _, err := db.Start(ctx, "unknown-"+unique(), nil, nil); !errors.Is(err, cairn.ErrNotFound) {
			t.Error(err)
		}
		if _, err := db.Enqueue(ctx, "", nil, nil); !errors.Is(err, cairn.ErrBadInput) {
			t.Error(err)
		}
		if _, err := db.Enqueue(ctx, "x", nil, &cairn.JobOptions{At: time.Now(), Delay: 1}); !errors.Is(err, cairn.ErrBadInput) {
			t.Error(err)
		}
		if _, err := db.Enqueue(ctx, "x", make(chan int), nil); !errors.Is(err, cairn.ErrBadPayload) {
			t.Error(err)
		}
		name := "conflict-" + unique()
		must[*cairn.Deployed](t)(db.Deploy(ctx, cairn.NewWorkflow(name, 1).Step("a", nil)))
		if _, err := db.Deploy(ctx, cairn.NewWorkflow(name, 1).Step("b", nil)); !errors.Is(err, cairn.ErrConflict) {
			t.Error(err)
		}
		if err := db.PutSchedule(ctx, cairn.Schedule{Name: "bad", Cron: "61 * * * *", Task: "x"}); !errors.Is(err, cairn.ErrBadInput) {
			t.Error(err)
		}
		status, answer, err := db.Call(ctx, "GET", "/v1/nothing", nil)
		if err != nil || status != 404 || !strings.Contains(string(answer), "not_found") {
			t.Error(status, string(answer), err)
		}
	})
}

func TestSchedules(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "nightly-"+unique()
		check(t, db.PutSchedule(ctx, cairn.Schedule{
			Name: name, Every: 90 * time.Second, Task: "ping." + name, Input: json.RawMessage(`{"host":"a"}`), Overlap: "queue",
		}))
		find := func() *cairn.Schedule {
			var found *cairn.Schedule
			db.Schedules(ctx)(func(schedule *cairn.Schedule, err error) bool {
				check(t, err)
				if schedule.Name == name {
					found = schedule
				}
				return true
			})
			return found
		}
		found := find()
		if found == nil || found.Every != 90*time.Second || found.Overlap != "queue" || found.CatchUp != "last" || found.NextAt.IsZero() {
			t.Fatalf("%+v", found)
		}
		found.Paused = true
		check(t, db.PutSchedule(ctx, *found))
		if found = find(); !found.Paused || !found.NextAt.IsZero() {
			t.Errorf("%+v", found)
		}
		check(t, db.DeleteSchedule(ctx, name))
		if err := db.DeleteSchedule(ctx, name); !errors.Is(err, cairn.ErrNotFound) || find() != nil {
			t.Error(err)
		}
	})
}

func TestLimits(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "limit-"+unique()
		check(t, db.PutLimit(ctx, cairn.Limit{Name: name, Types: name + ".%", Concurrency: 2, Rate: &cairn.Rate{N: 5, PerMS: 60000}, PerGroup: true}))
		find := func() *cairn.Limit {
			var found *cairn.Limit
			db.Limits(ctx)(func(limit *cairn.Limit, err error) bool {
				check(t, err)
				if limit.Name == name {
					found = limit
				}
				return true
			})
			return found
		}
		found := find()
		if found == nil || found.Concurrency != 2 || found.Rate == nil || *found.Rate != (cairn.Rate{N: 5, PerMS: 60000}) || !found.PerGroup {
			t.Fatalf("%+v", found)
		}
		options := &cairn.JobOptions{Group: "ann"}
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name+".v1", nil, options))
		row, err := job.Get(ctx)
		check(t, err)
		if row.Group != "ann" {
			t.Errorf("%+v", row)
		}
		if found := find(); found.Taken != 0 || found.Waiting != 1 {
			t.Errorf("%+v", found)
		}
		check(t, db.DeleteLimit(ctx, name))
		if err := db.DeleteLimit(ctx, name); !errors.Is(err, cairn.ErrNotFound) || find() != nil {
			t.Error(err)
		}
	})
}

func TestMetadataGoesToTheHandler(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "meta."+unique()
		cairn.Handle(app, name, func(ctx context.Context, _ any) (json.RawMessage, error) { return cairn.TaskFrom(ctx).Metadata, nil })
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, nil, &cairn.JobOptions{Metadata: map[string]any{"tenant": "a"}}))
		work(t, db, app)
		var got map[string]string
		check(t, json.Unmarshal(must[json.RawMessage](t)(job.Result(ctx)), &got))
		equal(t, "tenant", got["tenant"], "a")
	})
}

func TestLookingAfterAStore(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "registry."+unique()
		check(t, db.PutRegistry(ctx, cairn.RegistryEntry{WorkflowName: name, Runtime: "python", IsEnabled: true, Description: "d"}))
		found := false
		for _, entry := range collect(t, db.Registry(ctx)) {
			found = found || entry.WorkflowName == name && entry.Runtime == "python" && entry.IsEnabled && entry.Description == "d"
		}
		if !found {
			t.Error("the entry is not listed")
		}
		app := cairn.NewApp()
		cairn.Handle(app, name, func(context.Context, any) (any, error) { return nil, nil })
		if _, err := db.Work(ctx, app, cairn.WorkerConfig{UntilIdle: true}); !errors.Is(err, cairn.ErrWrongRuntime) {
			t.Error(err)
		}
		if must[time.Time](t)(db.Now(ctx)).IsZero() {
			t.Error("no time")
		}
		if stats := must[map[string]uint64](t)(db.Stats(ctx)); len(stats) == 0 {
			t.Error("no figures")
		}
		if findings := must[[]cairn.Finding](t)(db.Doctor(ctx)); len(findings) == 0 || findings[0].Check == "" {
			t.Error("no findings")
		}
		job := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, name, nil, nil))
		db.Follow(ctx, "")(func(event *cairn.StreamEvent, err error) bool {
			check(t, err)
			return !(event.Subject == job.ID && event.Type == "created")
		})
	})
}

func TestAKnownKeyIsRefusedMovedOrTaken(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, key := within(t), unique()
		with := func(o cairn.JobOptions) *cairn.JobOptions { o.Key = key; return &o }
		late := with(cairn.JobOptions{Debounce: time.Hour})
		first := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, "index", 1, late))
		again := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, "index", 2, late))
		equal(t, "moved", fmt.Sprint(again.Existing, again.ID == first.ID), "true true")
		equal(t, "payload", string(must[*cairn.Job](t)(first.Get(ctx)).Payload), "2")
		if _, err := db.Enqueue(ctx, "index", 3, with(cairn.JobOptions{OnExisting: cairn.FailIfExisting})); !errors.Is(err, cairn.ErrConflict) {
			t.Error("the answer is", err)
		}
		if _, err := db.Enqueue(ctx, "index", 3, &cairn.JobOptions{Key: key, Debounce: -1}); !errors.Is(err, cairn.ErrBadInput) {
			t.Error("the answer is", err)
		}
		if err := first.Cancel(ctx); err != nil {
			t.Fatal(err)
		}
		taken := must[*cairn.JobHandle[json.RawMessage]](t)(db.Enqueue(ctx, "index", 4, with(cairn.JobOptions{OnExisting: cairn.NewIfEnded})))
		equal(t, "another", fmt.Sprint(taken.Existing, taken.ID == first.ID), "false false")

		must[*cairn.Deployed](t)(db.Deploy(ctx, cairn.Text("{workflow: known, version: 1, steps: [{step: a}]}")))
		run := must[*cairn.InstanceHandle[json.RawMessage]](t)(db.Start(ctx, "known", nil, &cairn.StartOptions{Key: key}))
		_, err := db.Start(ctx, "known", nil, &cairn.StartOptions{Key: key, OnExisting: cairn.FailIfExisting})
		if !errors.Is(err, cairn.ErrConflict) || !strings.Contains(err.Error(), run.ID) {
			t.Error("the answer is", err)
		}
	})
}
