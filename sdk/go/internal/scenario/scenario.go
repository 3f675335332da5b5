// Package scenario executes a scenario of tests/sdk with this SDK; tests/sdk/README.md says what a
// scenario is. The programs around it are internal/runscenario and, with drivers of databases,
// drivers/runscenario.
package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"cairn.invalid/cairn"
)

type call struct {
	Complete  *json.RawMessage `json:"complete"`
	Echo      bool             `json:"echo"`
	Fail      string           `json:"fail"`
	Dead      string           `json:"dead"`
	Retry     string           `json:"retry"`
	AfterMS   *int64           `json:"after_ms"`
	ReleaseMS *int64           `json:"release_ms"`
	Wait      string           `json:"wait"`
	TimeoutMS int64            `json:"timeout_ms"`
	Metadata  map[string]any   `json:"metadata"`
	Emit      []struct {
		Event   string          `json:"event"`
		Payload json.RawMessage `json:"payload"`
	} `json:"emit"`
}

// UnmarshalJSON keeps a null that completes apart from no completion.
func (c *call) UnmarshalJSON(data []byte) error {
	type plain call
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	if value, is := fields["complete"]; is {
		c.Complete = &value
	}
	return err
}

type statement map[string]json.RawMessage

type scenario struct {
	Needs     []string            `json:"needs"`
	Handlers  map[string][]call   `json:"handlers"`
	Functions map[string]function `json:"functions"`
	Do        []json.RawMessage   `json:"do"`
}

type function struct {
	Version int32       `json:"version"`
	Commit  string      `json:"commit"`
	Do      []statement `json:"do"`
}

// job has the fields of a job or of a start.
type job struct {
	Type        string          `json:"type"`
	Workflow    string          `json:"workflow"`
	Version     int32           `json:"version"`
	Payload     json.RawMessage `json:"payload"`
	Input       json.RawMessage `json:"input"`
	Key         string          `json:"key"`
	Priority    *int32          `json:"priority"`
	MaxAttempts int32           `json:"max_attempts"`
	RunAt       string          `json:"run_at"`
	StartAt     string          `json:"start_at"`
}

type action struct {
	Enqueue     *job                `json:"enqueue"`
	EnqueueMany []job               `json:"enqueue_many"`
	Job         string              `json:"job"`
	Instance    string              `json:"instance"`
	Deploy      *file               `json:"deploy"`
	Start       *job                `json:"start"`
	Work        *int                `json:"work"`
	AdvanceMS   int64               `json:"advance_ms"`
	Signal      string              `json:"signal"`
	Decide      string              `json:"decide"`
	Cancel      string              `json:"cancel"`
	Retry       string              `json:"retry"`
	Delete      string              `json:"delete"`
	Abort       string              `json:"abort"`
	Pause       string              `json:"pause"`
	Resume      string              `json:"resume"`
	Force       bool                `json:"force"`
	Code        map[string]function `json:"code"`
	Restart     string              `json:"restart"`
	Requeue     string              `json:"requeue"`
	Result      string              `json:"result"`
	As          json.RawMessage     `json:"as"`
	Gives       map[string]bool     `json:"gives"`
	Error       string              `json:"error"`
	Transaction []action            `json:"transaction"`
	End         string              `json:"end"`
	Is          json.RawMessage     `json:"is"`
	Event       string              `json:"event"`
	Payload     json.RawMessage     `json:"payload"`
	ID          string              `json:"id"`
	Latch       string              `json:"latch"`
	Step        string              `json:"step"`
	Decision    string              `json:"decision"`
	By          string              `json:"by"`
	Comment     string              `json:"comment"`
	Reason      string              `json:"reason"`
	Input       json.RawMessage     `json:"input"`
}

type raw = json.RawMessage

// named is a job or an instance; the other one is nil.
type named struct {
	job      *cairn.JobHandle[raw]
	instance *cairn.InstanceHandle[raw]
}

type story struct {
	*scenario
	url   string
	begin Begin
	db    *cairn.Engine
	app   *cairn.App
	named map[string]named
	calls map[string]int
	lock  sync.Mutex // of calls: steps of a gather run side by side
	start time.Time
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// at reads a time such as "+1000", a second after the start.
func (s *story) at(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	n, _ := strconv.ParseInt(text[1:], 10, 64)
	return s.start.Add(ms(n))
}

// given is a value of the scenario as the SDK takes it: nil if it was left out.
func given(value raw) any {
	if value == nil {
		return nil
	}
	return value
}

// ---- handlers and functions

// next is what this call does, by how often it was called before.
func (s *story) next(script []call, key string) call {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.calls[key]++
	return script[min(s.calls[key], len(script))-1]
}

func execute(c call, input raw) (raw, error) {
	switch {
	case c.Complete != nil:
		return *c.Complete, nil
	case c.Echo:
		return input, nil
	case c.Dead != "":
		return nil, cairn.Dead(errors.New(c.Dead))
	case c.Retry != "":
		after := time.Duration(-1)
		if c.AfterMS != nil {
			after = ms(*c.AfterMS)
		}
		return nil, cairn.Retry(errors.New(c.Retry), after)
	case c.ReleaseMS != nil:
		return nil, cairn.Release(ms(*c.ReleaseMS))
	case c.Wait != "":
		return nil, cairn.WaitFor(c.Wait, ms(c.TimeoutMS))
	}
	return nil, errors.New(c.Fail)
}

func (s *story) handler(script []call) func(context.Context, raw) (raw, error) {
	return func(ctx context.Context, input raw) (raw, error) {
		task := cairn.TaskFrom(ctx)
		c := s.next(script, task.Kind+" "+task.ID)
		for _, event := range c.Emit {
			if err := cairn.Emit(ctx, event.Event, event.Payload); err != nil {
				return nil, err
			}
		}
		if c.Metadata != nil && !reflect.DeepEqual(c.Metadata, read[map[string]any](task.Metadata)) {
			return nil, cairn.Dead(errors.New("other metadata"))
		}
		return execute(c, input)
	}
}

func read[T any](data raw) T {
	var value T
	if data != nil {
		cairn.Check(json.Unmarshal(data, &value))
	}
	return value
}

func (s *story) stepOf(ctx *cairn.Context, st statement) (string, func(context.Context) (raw, error), *cairn.StepOptions) {
	key, script := read[string](st["step"]), read[[]call](st["calls"])
	options := &cairn.StepOptions{Input: given(st["input"])}
	if st["retries"] != nil {
		retries := read[int32](st["retries"])
		options.Retries = &retries
	}
	options.Compensation = read[*undo](st["compensation"]).compensation()
	return key, func(context.Context) (raw, error) {
		return execute(s.next(script, ctx.InstanceID()+" "+key), nil)
	}, options
}

func (s *story) gather(ctx *cairn.Context, steps []statement) (raw, error) {
	values := make([]raw, len(steps))
	parallel := make([]cairn.Parallel, len(steps))
	for i, st := range steps {
		key, run, options := s.stepOf(ctx, st)
		parallel[i] = cairn.Go(key, &values[i], run, options)
	}
	if err := cairn.Gather(ctx, parallel...); err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// tried answers the word of an error that a function may keep.
func tried(value raw, err error) (raw, error) {
	switch {
	case errors.Is(err, cairn.ErrStepFailed):
		return raw(`"step_failed"`), nil
	case errors.Is(err, cairn.ErrTimedOut):
		return raw(`"timed_out"`), nil
	}
	return value, err
}

func (s *story) do(ctx *cairn.Context, st statement) (raw, error) {
	switch {
	case st["try"] != nil:
		return tried(s.do(ctx, read[statement](st["try"])))
	case st["step"] != nil:
		key, run, options := s.stepOf(ctx, st)
		return cairn.Step(ctx, key, run, options)
	case st["gather"] != nil:
		return s.gather(ctx, read[[]statement](st["gather"]))
	case st["sleep"] != nil:
		return nil, ctx.Sleep(ms(read[int64](st["ms"])), &cairn.KeyOptions{Key: read[string](st["sleep"])})
	case st["wait_event"] != nil:
		return cairn.WaitEvent[raw](ctx, read[string](st["wait_event"]), &cairn.WaitOptions{Timeout: ms(read[int64](st["timeout_ms"]))})
	case st["enqueue"] != nil:
		spec := read[job](st["enqueue"])
		_, err := ctx.Enqueue(spec.Type, given(spec.Payload), nil)
		return nil, err
	case st["start"] != nil:
		spec := read[job](st["start"])
		_, err := ctx.Start(spec.Workflow, given(spec.Input), nil)
		return nil, err
	case st["call"] != nil:
		spec := read[job](st["call"])
		return cairn.CallWorkflow[raw](ctx, spec.Workflow, given(spec.Input), nil)
	case st["log"] != nil:
		ctx.Log(0, read[string](st["log"]))
		return nil, nil
	case st["uuid"] != nil:
		id, err := ctx.UUID()
		return raw(strconv.Quote(id)), err
	case st["value"] != nil:
		return st["value"], nil
	}
	return nil, errors.New(read[string](st["fail"]))
}

func (s *story) register(ctx context.Context) error {
	for taskType, script := range s.Handlers {
		cairn.Handle(s.app, taskType, s.handler(script))
	}
	for name, function := range s.Functions {
		options := &cairn.FunctionOptions{CommitPassage: function.Commit == "passage"}
		cairn.NewFunction[raw, raw](name, function.Version, options).Handle(s.app, func(ctx *cairn.Context, _ raw) (raw, error) {
			var value raw = raw("null")
			for _, st := range s.Functions[name].Do {
				var err error
				if value, err = s.do(ctx, st); err != nil {
					return nil, err
				}
			}
			if value == nil {
				value = raw("null")
			}
			return value, nil
		})
		text := fmt.Sprintf(`{"function": %q, "version": %d}`, name, function.Version)
		if _, err := s.db.Deploy(ctx, cairn.Text(text)); err != nil {
			return err
		}
	}
	return nil
}

// ---- actions

func (s *story) jobOptions(spec *job) *cairn.JobOptions {
	return &cairn.JobOptions{Key: spec.Key, Priority: spec.Priority, MaxAttempts: spec.MaxAttempts, At: s.at(spec.RunAt)}
}

func (s *story) keep(a *action, n named) {
	if name := read[string](a.As); name != "" {
		s.named[name] = n
	}
}

func (s *story) enqueue(ctx context.Context, a *action) (any, error) {
	handle, err := s.db.Enqueue(ctx, a.Enqueue.Type, given(a.Enqueue.Payload), s.jobOptions(a.Enqueue))
	if err != nil {
		return nil, err
	}
	s.keep(a, named{job: handle})
	return map[string]bool{"existing": handle.Existing}, nil
}

func (s *story) enqueueMany(ctx context.Context, a *action) (any, error) {
	specs := make([]cairn.JobSpec, len(a.EnqueueMany))
	for i := range specs {
		spec := &a.EnqueueMany[i]
		specs[i] = cairn.JobSpec{Type: spec.Type, Payload: given(spec.Payload), Options: s.jobOptions(spec)}
	}
	_, err := s.db.EnqueueMany(ctx, specs)
	return nil, err
}

func (s *story) startOne(ctx context.Context, a *action) (any, error) {
	spec := a.Start
	options := &cairn.StartOptions{Version: spec.Version, Key: spec.Key, At: s.at(spec.StartAt)}
	handle, err := s.db.Start(ctx, spec.Workflow, given(spec.Input), options)
	if err != nil {
		return nil, err
	}
	s.keep(a, named{instance: handle})
	return map[string]bool{"existing": handle.Existing}, nil
}

func (s *story) work(ctx context.Context, a *action) (any, error) {
	done := 0
	if len(s.Handlers)+len(s.Functions) > 0 {
		var err error
		config := cairn.WorkerConfig{Name: "parity", Runtime: "*", Concurrency: 1, UntilIdle: true}
		if done, err = s.db.Work(ctx, s.app, config); err != nil {
			return nil, err
		}
	}
	if done != *a.Work {
		return nil, fmt.Errorf("%d tasks were executed", done)
	}
	return nil, nil
}

func (s *story) advance(ctx context.Context, a *action) (any, error) {
	status, answer, err := s.db.Call(ctx, "POST", "/v1/clock/advance", map[string]int64{"ms": a.AdvanceMS})
	if err == nil && status != 200 {
		err = errors.New(string(answer))
	}
	return nil, err
}

func (s *story) signal(ctx context.Context, a *action) (any, error) {
	options := &cairn.SignalOptions{ID: a.ID, NoLatch: a.Latch == "off"}
	answer, err := s.named[a.Signal].instance.Signal(ctx, a.Event, given(a.Payload), options)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"existing": answer.Existing, "taken": answer.Taken, "kept": answer.Kept}, nil
}

func (s *story) requeue(ctx context.Context, a *action) (any, error) {
	var found error
	id := s.named[a.Requeue].instance.ID
	s.db.DLQ(ctx)(func(record *cairn.DLQRecord, err error) bool {
		if found = err; err == nil && record.InstanceID == id {
			found = s.db.Requeue(ctx, record.ID, given(a.Input))
		}
		return found == nil
	})
	return nil, found
}

func (s *story) result(ctx context.Context, a *action) (any, error) {
	var value raw
	var err error
	if n := s.named[a.Result]; n.job != nil {
		value, err = n.job.Result(ctx)
	} else {
		value, err = n.instance.Result(ctx)
	}
	for word, sentinel := range map[string]error{"failed": cairn.ErrFailed, "cancelled": cairn.ErrCancelled, "aborted": cairn.ErrAborted} {
		if a.Error == word && errors.Is(err, sentinel) {
			a.Error = ""
			return nil, nil
		}
	}
	if err == nil && !reflect.DeepEqual(read[any](value), read[any](a.Is)) {
		err = fmt.Errorf("it ended with %s", value)
	}
	return nil, err
}

func (s *story) control(ctx context.Context, a *action) error {
	switch {
	case a.Delete != "":
		return s.named[a.Delete].job.Delete(ctx)
	case a.Cancel != "" && s.named[a.Cancel].job != nil:
		return s.named[a.Cancel].job.Cancel(ctx)
	case a.Cancel != "":
		return s.named[a.Cancel].instance.Cancel(ctx, a.By, a.Reason)
	case a.Retry != "" && s.named[a.Retry].job != nil:
		return s.named[a.Retry].job.Retry(ctx)
	case a.Retry != "":
		return s.named[a.Retry].instance.Retry(ctx)
	case a.Abort != "":
		return s.named[a.Abort].instance.Abort(ctx, a.By, a.Reason)
	case a.Pause != "":
		return s.named[a.Pause].instance.Pause(ctx)
	case a.Resume != "":
		return s.named[a.Resume].instance.Resume(ctx, a.Force)
	case a.Restart != "":
		return s.named[a.Restart].instance.Restart(ctx)
	case a.Decision == "confirmed":
		return s.named[a.Decide].instance.Confirm(ctx, a.Step, a.By, a.Comment)
	}
	return s.named[a.Decide].instance.Reject(ctx, a.Step, a.By, a.Comment)
}

func (s *story) dispatch(ctx context.Context, a *action) (any, error) {
	switch {
	case a.Enqueue != nil:
		return s.enqueue(ctx, a)
	case a.EnqueueMany != nil:
		return s.enqueueMany(ctx, a)
	case a.Transaction != nil:
		return nil, s.transaction(ctx, a)
	case a.Job != "":
		s.keep(a, named{job: cairn.JobOf[raw](s.db, a.Job)})
		return nil, nil
	case a.Instance != "":
		s.keep(a, named{instance: cairn.InstanceOf[raw](s.db, a.Instance)})
		return nil, nil
	case a.Deploy != nil:
		deployed, err := s.db.Deploy(ctx, a.Deploy.build())
		if err != nil {
			return nil, err
		}
		return map[string]bool{"existing": deployed.Existing}, nil
	case a.Start != nil:
		return s.startOne(ctx, a)
	case a.Work != nil:
		return s.work(ctx, a)
	case a.AdvanceMS != 0:
		return s.advance(ctx, a)
	case a.Signal != "":
		return s.signal(ctx, a)
	case a.Code != nil:
		for name, code := range a.Code {
			s.Functions[name] = code
		}
		return nil, nil
	case a.Requeue != "":
		return s.requeue(ctx, a)
	case a.Result != "":
		return s.result(ctx, a)
	}
	return nil, s.control(ctx, a)
}

func (s *story) act(ctx context.Context, a *action) error {
	answer, err := s.dispatch(ctx, a)
	var refused *cairn.Error
	if errors.As(err, &refused) && refused.Code == a.Error {
		return nil
	}
	if err != nil {
		return err
	}
	if a.Error != "" {
		return fmt.Errorf("it was not refused with %s", a.Error)
	}
	flags, _ := answer.(map[string]bool)
	for name, value := range a.Gives {
		if flags[name] != value {
			return fmt.Errorf("%s is %v", name, flags[name])
		}
	}
	return nil
}

func open(ctx context.Context, url string) (*cairn.Engine, error) {
	config := cairn.Config{URL: url}
	if !strings.HasPrefix(url, "http") {
		config.VirtualClock, config.Start = true, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return cairn.Open(ctx, config)
}

func run(path, url string, begin Begin) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var s scenario
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return err
	}
	db, err := open(ctx, url)
	if err != nil {
		return err
	}
	story := &story{scenario: &s, url: url, begin: begin, db: db, app: cairn.NewApp(), named: map[string]named{}, calls: map[string]int{}}
	defer func() { story.db.Close() }()
	if story.start, err = db.Now(ctx); err == nil {
		err = story.register(ctx)
	}
	if err != nil {
		return err
	}
	for i, text := range s.Do {
		a := &action{}
		if err := json.Unmarshal(text, a); err != nil {
			return err
		}
		if err := story.act(ctx, a); err != nil {
			return fmt.Errorf("action %d, %s: %w", i+1, text, err)
		}
	}
	return nil
}

// Main is the program: SCENARIO.json URL. begin is nil if there are no drivers.
func Main(begin Begin) {
	if err := run(os.Args[1], os.Args[2], begin); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
