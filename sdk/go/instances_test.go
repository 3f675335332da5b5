package cairn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

type object = map[string]any

func startOf(t *testing.T, db *cairn.Engine, name string, input any) *cairn.InstanceHandle[json.RawMessage] {
	t.Helper()
	return must[*cairn.InstanceHandle[json.RawMessage]](t)(db.Start(background, name, input, nil))
}

func TestASagaIsUndone(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "trip-"+unique()
		undone := make(chan string, 1)
		cairn.Handle(app, name+".flight", func(context.Context, object) (object, error) { return object{"seat": "12A"}, nil })
		cairn.Handle(app, name+".car", func(context.Context, object) (any, error) { return nil, errors.New("no cars left") })
		cairn.Handle(app, name+".cancel", func(_ context.Context, u cairn.Undo[object, object]) (any, error) {
			undone <- fmt.Sprint(u.Input["to"], " ", (*u.Output)["seat"])
			return nil, nil
		})
		wf := cairn.NewWorkflow(name, 1).
			Step("flight", &cairn.StepSpec{Handler: name + ".flight", Compensation: &cairn.Compensation{Handler: name + ".cancel"}}).
			Step("car", &cairn.StepSpec{Handler: name + ".car", MaxAttempts: 1})
		must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		run := startOf(t, db, name, object{"to": "Lisbon"})
		work(t, db, app)
		equal(t, "undone", <-undone, "Lisbon 12A")
		_, err := run.Result(ctx)
		var ended *cairn.EndedError
		if !errors.As(err, &ended) || ended.Instance.LastError.Message != "no cars left" || ended.Instance.LastError.Step != "car" {
			t.Error(err)
		}
		var statuses []string
		for _, step := range collect(t, run.Steps(ctx)) {
			statuses = append(statuses, step.Name+" "+step.Status)
		}
		equal(t, "steps", strings.Join(statuses, ", "), "flight rolled_back, car rolled_back")
	})
}

func TestAMapThatOnlyCounts(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "count-"+unique()
		cairn.Handle(app, name+".one", func(_ context.Context, n int) (int, error) {
			if n == 3 {
				return 0, errors.New("not this one")
			}
			return 10 * n, nil
		})
		each := func(w *cairn.Workflow) { w.Step("one", &cairn.StepSpec{Handler: name + ".one", MaxAttempts: 1}) }
		wf := cairn.NewWorkflow(name, 1).Map("each", "{{ .list }}", each, &cairn.MapSpec{AtLeast: 3, CountOnly: true})
		must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		run := startOf(t, db, name, object{"list": []int{1, 2, 3, 4}})
		work(t, db, app)
		var got struct{ Count, Completed, Failed int }
		if err := json.Unmarshal(must[json.RawMessage](t)(run.Result(ctx)), &got); err != nil {
			t.Fatal(err)
		}
		equal(t, "counts", fmt.Sprint(got), "{4 3 1}")
	})
}

func TestDataOfStepsAndWhatHandlersRead(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "data-"+unique()
		cairn.Handle(app, name+".charge", func(_ context.Context, in object) (object, error) {
			return object{"card": object{"last4": in["card"], "secret": "s"}}, nil
		})
		cairn.Handle(app, name+".ship", func(ctx context.Context, in object) (string, error) {
			start, err := cairn.InstanceInput[object](ctx)
			if err != nil {
				return "", err
			}
			charged, err := cairn.OutputOf[string](ctx, "charge")
			if err != nil {
				return "", err
			}
			if _, err = cairn.OutputOf[any](ctx, "ship"); !errors.Is(err, cairn.ErrNotFound) {
				return "", fmt.Errorf("its own output: %w", err)
			}
			return fmt.Sprint(in["to"], " ", start["to"], " ", charged), nil
		})
		wf := cairn.NewWorkflow(name, 1).
			Step("charge", &cairn.StepSpec{Handler: name + ".charge", Input: object{"card": "{{ .card }}"}, Output: "{{ .card.last4 }}"}).
			Step("ship", &cairn.StepSpec{Handler: name + ".ship", Input: object{"to": "{{ $.input.to }}, {{ . }}"}})
		must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		run := startOf(t, db, name, object{"to": "Ada", "card": "4242"})
		work(t, db, app)
		result, err := run.Result(ctx)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "result", string(result), `"Ada, 4242 Ada 4242"`)
	})
	if _, err := cairn.InstanceInput[any](background); !errors.Is(err, cairn.ErrMisuse) {
		t.Error(err)
	}
}

func TestEveryElementOfTheBuilder(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "order-"+unique()
		var lock sync.Mutex
		called := map[string]int{}
		cairn.Handle(app, name+".%", func(ctx context.Context, in object) (any, error) {
			lock.Lock()
			defer lock.Unlock()
			called[cairn.TaskFrom(ctx).Step]++
			return in, nil
		})
		as := func(step string) *cairn.StepSpec { return &cairn.StepSpec{Handler: name + "." + step} }
		wf := cairn.NewWorkflow(name, 1).
			Step("reserve", as("reserve")).SavePoint("saved").
			Condition("in_stock", "{{ gt .count 0 }}",
				func(w *cairn.Workflow) { w.Step("pick", as("pick")) }, func(w *cairn.Workflow) { w.Step("restock", as("restock")) }).
			Fork("fulfilment", "all",
				func(w *cairn.Workflow) { w.Step("ship", as("ship")) }, func(w *cairn.Workflow) { w.Step("invoice", as("invoice")) }).
			Sleep("cool", 10*time.Millisecond).
			Human("approval", nil).
			Wait("settled", "paid", &cairn.WaitSpec{Timeout: time.Hour, OnTimeout: "fail"}).
			Step("close", as("close"))
		first := must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		again := must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		equal(t, "existing", fmt.Sprint(first.Existing, again.Existing, first.Hash == again.Hash), "false true true")
		start(t, db, app, cairn.WorkerConfig{})
		run := startOf(t, db, name, object{"count": 2})
		waitStatus(t, run, "waiting_signal", "running")
		decideWhenAsked(t, run)
		signalled := must[*cairn.Signalled](t)(run.Signal(ctx, "paid", object{"amount": 1}, &cairn.SignalOptions{ID: "s1"}))
		repeated := must[*cairn.Signalled](t)(run.Signal(ctx, "paid", object{"amount": 1}, &cairn.SignalOptions{ID: "s1"}))
		equal(t, "signal", fmt.Sprint(signalled.Existing, signalled.Kept, repeated.Existing), "false true true")
		must[json.RawMessage](t)(run.Result(ctx))
		lock.Lock()
		defer lock.Unlock()
		equal(t, "called", fmt.Sprint(called), "map[close:1 invoice:1 pick:1 reserve:1 ship:1]")
	})
}

// decideWhenAsked confirms the step approval as soon as it waits for a decision.
func decideWhenAsked(t *testing.T, run *cairn.InstanceHandle[json.RawMessage]) {
	t.Helper()
	for {
		err := run.Confirm(within(t), "approval", "ann", "fine")
		if err == nil {
			return
		}
		if !errors.Is(err, cairn.ErrWrongState) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// waitStatus waits until the instance has one of these statuses.
func waitStatus(t *testing.T, run *cairn.InstanceHandle[json.RawMessage], wanted ...string) {
	t.Helper()
	ctx := within(t)
	for {
		row := must[*cairn.Instance](t)(run.Get(ctx))
		for _, one := range wanted {
			if row.Status == one {
				return
			}
		}
		if !row.FinishedAt.IsZero() {
			t.Fatalf("it is %s: %+v", row.Status, row.LastError)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestDecisionsAndControl(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "leave-"+unique()
		cairn.Handle(app, name, func(_ context.Context, who string) (string, error) { return who, nil })
		wf := cairn.NewWorkflow(name, 1).Human("approval", nil).Step("book", &cairn.StepSpec{Handler: name})
		must[*cairn.Deployed](t)(db.Deploy(ctx, wf))
		handles := map[string]*cairn.InstanceHandle[json.RawMessage]{}
		for _, who := range []string{"confirm", "reject", "cancel", "abort", "pause"} {
			handles[who] = startOf(t, db, name, who)
		}
		check(t, handles["confirm"].Confirm(ctx, "approval", "carla", "have fun"))
		check(t, handles["reject"].Reject(ctx, "approval", "carla", ""))
		check(t, handles["cancel"].Cancel(ctx, "carla", "twice"))
		check(t, handles["abort"].Abort(ctx, "carla", "twice"))
		check(t, handles["pause"].Pause(ctx))
		work(t, db, app)
		for who, want := range map[string]string{"confirm": "completed", "reject": "aborted", "cancel": "cancelled", "abort": "aborted", "pause": "paused"} {
			equal(t, who, must[string](t)(handles[who].Status(ctx)), want)
		}
		check(t, handles["pause"].Resume(ctx, false))
		check(t, handles["pause"].Confirm(ctx, "approval", "carla", ""))
		work(t, db, app)
		equal(t, "resumed", string(must[json.RawMessage](t)(handles["pause"].Result(ctx))), `"pause"`)
		if err := handles["reject"].Confirm(ctx, "approval", "dan", ""); !errors.Is(err, cairn.ErrWrongState) {
			t.Error(err)
		}
		_, err := handles["cancel"].Result(ctx)
		if !errors.Is(err, cairn.ErrCancelled) {
			t.Error(err)
		}
		_, err = handles["abort"].Result(ctx)
		if !errors.Is(err, cairn.ErrAborted) {
			t.Error(err)
		}
		listed := collect(t, db.Instances(ctx, cairn.InstanceFilter{Workflow: name, Status: "completed"}))
		equal(t, "completed", len(listed), 2)
		check(t, handles["cancel"].Restart(ctx))
	})
}

func TestTheDeadLetterQueue(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "import-"+unique()
		cairn.Handle(app, name, func(_ context.Context, file string) (string, error) {
			if file == "" {
				return "", cairn.Dead(errors.New("no name"))
			}
			return file, nil
		})
		must[*cairn.Deployed](t)(db.Deploy(ctx, cairn.NewWorkflow(name, 1).DLQ().Step("load", &cairn.StepSpec{Handler: name})))
		run := startOf(t, db, name, "")
		work(t, db, app)
		equal(t, "status", must[string](t)(run.Status(ctx)), "dlq")
		for _, record := range collect(t, db.DLQ(ctx)) {
			if record.InstanceID != run.ID {
				continue
			}
			equal(t, "record", record.StepName+" "+record.Error, "load no name")
			check(t, db.Requeue(ctx, record.ID, "fixed.csv"))
			equal(t, "open", must[*cairn.DLQRecord](t)(db.DLQRecord(ctx, record.ID)).Open, false)
		}
		work(t, db, app)
		equal(t, "result", string(must[json.RawMessage](t)(run.Result(ctx))), `"fixed.csv"`)
	})
}

func TestAHandlerWaitsEmitsAndIsDelivered(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "pay-"+unique()
		cairn.Handle(app, name, func(ctx context.Context, n int) (string, error) {
			if signal := cairn.TaskFrom(ctx).Signal; signal != nil {
				return string(signal.Payload), cairn.Emit(ctx, "paid", n)
			}
			if err := cairn.Emit(ctx, "asked", n); err != nil {
				return "", err
			}
			return "", cairn.WaitFor("settled", 0)
		})
		var lock sync.Mutex
		var delivered []string
		refused := false
		app.Outbox(func(_ context.Context, event *cairn.OutboxEvent) error {
			lock.Lock()
			defer lock.Unlock()
			if !refused {
				refused = true
				return errors.New("not now")
			}
			delivered = append(delivered, event.Event+string(event.Payload))
			return nil
		})
		must[*cairn.Deployed](t)(db.Deploy(ctx, cairn.NewWorkflow(name, 1).Step("ask", &cairn.StepSpec{Handler: name})))
		run := startOf(t, db, name, 7)
		stop := start(t, db, app, cairn.WorkerConfig{Lease: 3 * time.Second, Look: 10 * time.Millisecond})
		for collect(t, run.Steps(ctx))[0].Status != "waiting" {
			time.Sleep(time.Millisecond)
		}
		must[*cairn.Signalled](t)(run.Signal(ctx, "settled", 250, nil))
		equal(t, "result", string(must[json.RawMessage](t)(run.Result(ctx))), `"250"`)
		for isDone := false; !isDone; {
			lock.Lock()
			isDone = len(delivered) >= 2
			lock.Unlock()
			time.Sleep(time.Millisecond)
		}
		stop()
		lock.Lock()
		equal(t, "delivered", strings.Join(delivered, " "), "asked7 paid7")
		lock.Unlock()
	})
}

func TestFilesAndDefinitions(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, name := within(t), "file-"+unique()
		path := filepath.Join(t.TempDir(), "flow.yaml")
		check(t, os.WriteFile(path, []byte("workflow: "+name+"\nversion: 3\nsteps:\n  - step: a\n"), 0o600))
		equal(t, "version", must[*cairn.Deployed](t)(db.DeployFile(ctx, path)).Version, 3)
		found := false
		for _, definition := range collect(t, db.Workflows(ctx)) {
			found = found || definition.Name == name && definition.Version == 3 && definition.Hash != ""
		}
		if !found {
			t.Error("the definition is not listed")
		}
		if _, err := db.Deploy(ctx, cairn.Text("workflow: x\nversion: nine\n")); !errors.Is(err, cairn.ErrBadInput) {
			t.Error(err)
		}
		if _, err := db.DeployFile(ctx, path+".missing"); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestAnInstanceIsRunAgainFromAStepOn(t *testing.T) {
	onEach(t, func(t *testing.T, db *cairn.Engine) {
		ctx, app, name := within(t), cairn.NewApp(), "again"+unique()
		calls := map[string]int{}
		for _, step := range []string{name + "a", name + "b"} {
			cairn.Handle(app, step, func(ctx context.Context, n int) (int, error) {
				calls[cairn.TaskFrom(ctx).Step]++
				return n + 1, nil
			})
		}
		text := fmt.Sprintf("{workflow: %[1]s, version: 1, steps: [{step: a, handler: %[1]sa}, {step: b, handler: %[1]sb}]}", name)
		must[*cairn.Deployed](t)(db.Deploy(ctx, cairn.Text(text)))
		first := must[*cairn.InstanceHandle[json.RawMessage]](t)(db.Start(ctx, name, 1, nil))
		work(t, db, app)
		second := must[*cairn.InstanceHandle[json.RawMessage]](t)(first.Rerun(ctx, &cairn.RerunOptions{From: "b", Input: 10}))
		work(t, db, app)
		equal(t, "result", string(must[json.RawMessage](t)(second.Result(ctx))), "11")
		equal(t, "calls", fmt.Sprint(calls), "map[a:1 b:2]")
		equal(t, "source", must[*cairn.Instance](t)(second.Get(ctx)).Source, first.ID)
		if _, err := first.Rerun(ctx, &cairn.RerunOptions{From: "none"}); !errors.Is(err, cairn.ErrNotFound) {
			t.Error("the answer is", err)
		}
	})
}
