package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// Context is the context of a durable function. Its methods answer from the history what earlier
// runs have done, and do the rest. Code outside of steps must do the same in every run.
//
// Every error must be passed on, except ErrStepFailed and ErrTimedOut, which code may handle.
// Steps get a plain context.Context, so steps cannot nest.
type Context struct {
	context.Context

	run     *functionRun
	version int32
}

// KeyOptions name a step; nil means the default.
type KeyOptions struct{ Key string }

// WaitOptions are the options of WaitEvent; nil means the defaults.
type WaitOptions struct {
	Key     string        // "": the event
	Timeout time.Duration // 0: without end; ErrTimedOut
}

// ChildOptions are the options of Enqueue, Start and CallWorkflow; nil means the defaults.
type ChildOptions struct {
	Key     string // of the step; "": the type or workflow
	Job     *JobOptions
	Start   *StartOptions
	Timeout time.Duration // of CallWorkflow; 0: without end
}

// StepOptions are the options of a step; nil means the defaults.
type StepOptions struct {
	Input        any           // recorded; the compensation gets it
	Retries      *int32        // calls after the first; nil: 2
	Backoff      *Backoff      // nil: exponential, 1 s to 5 min
	Timeout      time.Duration // also the deadline of the step's context; 0: none
	Compensation *Compensation
}

// Backoff says how long to wait before the next call. Kind is fixed, linear, exponential or
// quadratic; "" is exponential. Base 0 is 1 s, Max 0 is 5 min.
type Backoff struct {
	Kind      string
	Base, Max time.Duration
	Jitter    float64 // the part of the delay that is added at random, 0 to 1
}

// Compensation is the task that undoes a step.
type Compensation struct {
	Handler     string         // the task type
	MaxAttempts *int32         // calls; nil: 3; 0: straight to the dead letter queue
	Retry       *Backoff       // nil: exponential, 1 s to 5 min
	Timeout     time.Duration  // of a call; 0: none
	Once        bool           // not idempotent: called once at most, even if its lease is lost
	Metadata    map[string]any // for its handler; the members go over those of the instance
}

// ---- one call at a time

// guard lets one call of a function's Context be under way, and none after the end of the run. It
// remembers what ended the run.
type guard struct {
	function   string     // whose run it is
	lock       sync.Mutex // the passage is used by one goroutine at a time
	names      sync.Mutex
	busy       string        // the key of the call that is under way
	refused    error         // what was said of the latest call beside another
	isEnded    bool          // no call is let in
	idle       chan struct{} // closed when the call that was under way at the end has returned
	over       error         // what every later call answers
	isReleased bool          // its task was given back
	warnOnce   sync.Once     // of a line of the log that came too late
}

func (g *guard) ended() error { return newError(ErrMisuse, "the run of %q has ended", g.function) }

func (g *guard) enter(key string) error {
	g.names.Lock()
	defer g.names.Unlock()
	if g.isEnded {
		return g.ended()
	}
	if g.busy != "" {
		g.refused = newError(ErrMisuse, "the function asks for %q while %q is under way; use Gather for steps side by side", key, g.busy)
		return g.refused
	}
	g.busy = key
	return nil
}

func (g *guard) leave() {
	g.names.Lock()
	defer g.names.Unlock()
	g.busy = ""
	if g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// end lets no call in any more. If one is under way, the run has failed with the error, and the channel
// tells when that call has returned; what it gives is not wanted any more.
func (g *guard) end() (<-chan struct{}, error) {
	g.names.Lock()
	defer g.names.Unlock()
	g.isEnded = true
	if g.busy == "" {
		return nil, nil
	}
	g.idle = make(chan struct{})
	if g.refused != nil {
		return g.idle, g.refused
	}
	return g.idle, newError(ErrMisuse, "the function ended while %q is under way", g.busy)
}

// check is for a call that was let in: the run may have ended since.
func (g *guard) check() error {
	g.names.Lock()
	defer g.names.Unlock()
	if g.isEnded {
		return g.ended()
	}
	return nil
}

func (g *guard) suspended() error {
	g.names.Lock()
	defer g.names.Unlock()
	return g.over
}

func (g *guard) setOver(err error) {
	g.names.Lock()
	defer g.names.Unlock()
	if g.over == nil {
		g.over = err
	}
}

// survivable are the errors after which a run goes on: the function may handle them or fail.
var survivable = []error{ErrStepFailed, ErrTimedOut, ErrBadInput, ErrBadJSON, ErrTooLarge, ErrWrongState, ErrNotFound, ErrConflict, ErrUnsupported}

// exchange makes a call of the passage. Suspension and its like end the run for good.
func (r *functionRun) exchange(call func(p passage.Passage) error) error {
	if over := r.guard.suspended(); over != nil && r.guard.check() == nil {
		return over
	}
	return r.exchangeAnyway(call)
}

// exchangeAnyway is for the end of a step that was begun side by side with one that has ended
// the run: its output is kept all the same.
func (r *functionRun) exchangeAnyway(call func(p passage.Passage) error) error {
	if err := r.worker.engine.enter(); err != nil {
		return err
	}
	defer r.worker.engine.leave()
	r.guard.lock.Lock()
	err := r.guard.check()
	if err == nil {
		err = call(r.passage)
	}
	r.guard.lock.Unlock()
	var own *passage.Error
	if errors.As(err, &own) {
		err = errorOfCode(own.Code, own.Message, own.Detail, "", 500)
	}
	if err != nil && !isCode(err, survivable...) && !isCode(err, ErrMisuse) {
		r.guard.setOver(err)
	}
	return err
}

// do is a whole call of the function's code.
func (c *Context) do(key string, call func(p passage.Passage) error) error {
	if err := c.run.guard.enter(key); err != nil {
		return err
	}
	defer c.run.guard.leave()
	return c.run.exchange(call)
}

func keyOr(options *KeyOptions, other string) string {
	if options != nil && options.Key != "" {
		return options.Key
	}
	return other
}

// ---- the function's own

// InstanceID returns the id of the instance.
func (c *Context) InstanceID() string { return c.run.call.task.task.InstanceID }

// Version returns the version of the function with which the instance was started.
func (c *Context) Version() int32 { return c.run.call.task.version }

// Sleep suspends the function for a time.
func (c *Context) Sleep(d time.Duration, options *KeyOptions) error {
	key := keyOr(options, "sleep")
	return c.do(key, func(p passage.Passage) error { return p.Sleep(key, d) })
}

// SleepUntil suspends the function until a time.
func (c *Context) SleepUntil(at time.Time, options *KeyOptions) error {
	key := keyOr(options, "sleep")
	return c.do(key, func(p passage.Passage) error { return p.SleepUntil(key, at) })
}

// Now returns the store's time, the same in every run.
func (c *Context) Now() (now time.Time, err error) {
	err = c.do("now", func(p passage.Passage) error {
		var e error
		now, e = p.Now()
		return e
	})
	return now, err
}

// Random returns a number from 0 up to but not including 1, the same in every run.
func (c *Context) Random() (value float64, err error) {
	err = c.do("random", func(p passage.Passage) error {
		var e error
		value, e = p.Random()
		return e
	})
	return value, err
}

// UUID returns a UUID, the same in every run.
func (c *Context) UUID() (id string, err error) {
	err = c.do("uuid", func(p passage.Passage) error {
		var e error
		id, e = p.UUID()
		return e
	})
	return id, err
}

// Log stores a line with the next commit, once and not in every run. args are pairs, as in slog.
// Steps may call it, too.
func (c *Context) Log(level slog.Level, message string, args ...any) {
	word := "error"
	switch {
	case level < slog.LevelInfo:
		word = "debug"
	case level < slog.LevelWarn:
		word = "info"
	case level < slog.LevelError:
		word = "warn"
	}
	err := c.run.exchange(func(p passage.Passage) error { return p.Log(word, message, logData(args)) })
	if errors.Is(err, ErrMisuse) {
		c.run.guard.warnOnce.Do(func() {
			c.run.call.task.task.Logger.Warn("a line of the function's log came too late", "message", message, "error", oneLine(err))
		})
		return
	}
	if err != nil && !errors.Is(err, ErrSuspended) {
		c.run.call.task.task.Logger.Warn("a line of the function's log was not stored", "message", message, "error", oneLine(err))
	}
}

// logData is the JSON object of slog's pairs; nil: none.
func logData(args []any) []byte {
	if len(args) == 0 {
		return nil
	}
	record := slog.NewRecord(time.Time{}, 0, "", 0)
	record.Add(args...)
	data := map[string]any{}
	record.Attrs(func(a slog.Attr) bool {
		data[a.Key] = attrValue(a.Value)
		return true
	})
	text, err := encodeJSON(data)
	if err != nil {
		text, _ = encodeJSON(map[string]string{"!BADDATA": err.Error()})
	}
	return text
}

func attrValue(v slog.Value) any {
	v = v.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		group := map[string]any{}
		for _, a := range v.Group() {
			group[a.Key] = attrValue(a.Value)
		}
		return group
	case slog.KindDuration:
		return v.Duration().String()
	}
	if err, ok := v.Any().(error); ok {
		return err.Error()
	}
	return v.Any()
}

// ---- waiting and starting

// WaitEvent suspends the function until a signal of the event has come, and returns its payload.
// Each signal is taken once, the oldest first. ErrTimedOut: none came in time.
func WaitEvent[T any](c *Context, event string, options *WaitOptions) (T, error) {
	var value T
	key, timeout := event, time.Duration(-1)
	if options != nil && options.Key != "" {
		key = options.Key
	}
	if options != nil && options.Timeout > 0 {
		timeout = options.Timeout
	}
	var payload []byte
	err := c.do(key, func(p passage.Passage) error {
		var e error
		payload, e = p.WaitEvent(key, event, timeout)
		return e
	})
	if err == nil {
		err = decodePayload(c.run.codec(), payload, &value)
	}
	return value, err
}

// Enqueue records a job, exactly once, and returns its id.
func (c *Context) Enqueue(taskType string, payload any, options *ChildOptions) (string, error) {
	o := childOptions(options)
	body, err := makeJobBody(c.run.codec(), c.run.worker.engine.storeClock(c), JobSpec{taskType, payload, o.Job})
	if err == nil && o.Job != nil {
		err = checkPlainKey("what a function starts", o.Job.OnExisting, o.Job.Debounce)
	}
	if err != nil {
		return "", err
	}
	metadata, err := metadataText(body.Metadata)
	if err != nil {
		return "", err
	}
	job := &passage.Job{Type: taskType, Payload: body.Payload, Key: body.Key, Priority: 100, MaxAttempts: 3, RunAt: body.RunAt, Metadata: metadata}
	if job.Tags, err = tagsText(body.Tags); err != nil {
		return "", err
	}
	job.TimeoutMS = body.TimeoutMS
	if job.Retry, err = retryText(body.Retry); err != nil {
		return "", err
	}
	if body.Priority != nil {
		job.Priority = *body.Priority
	}
	if body.MaxAttempts != 0 {
		job.MaxAttempts = body.MaxAttempts
	}
	key := keyOr(&KeyOptions{o.Key}, taskType)
	var id string
	err = c.do(key, func(p passage.Passage) error {
		var e error
		id, e = p.StartJob(key, job)
		return e
	})
	return id, err
}

// Start starts an instance, exactly once, and returns its id.
func (c *Context) Start(workflow string, input any, options *ChildOptions) (string, error) {
	o := childOptions(options)
	start, err := c.makeStart(workflow, input, o.Start)
	if err != nil {
		return "", err
	}
	key := keyOr(&KeyOptions{o.Key}, workflow)
	var id string
	err = c.do(key, func(p passage.Passage) error {
		var e error
		id, e = p.StartWorkflow(key, start)
		return e
	})
	return id, err
}

// CallWorkflow starts an instance, waits for its end and returns its output. An instance that
// did not end well is ErrStepFailed; ErrTimedOut: it has not ended in time. It is undone with this
// function, at the place of the call: rolled back if it has completed, else cancelled.
func CallWorkflow[R any](c *Context, workflow string, input any, options *ChildOptions) (R, error) {
	var value R
	o := childOptions(options)
	start, err := c.makeStart(workflow, input, o.Start)
	if err != nil {
		return value, err
	}
	key, timeout := keyOr(&KeyOptions{o.Key}, workflow), time.Duration(-1)
	if o.Timeout > 0 {
		timeout = o.Timeout
	}
	var output []byte
	err = c.do(key, func(p passage.Passage) error {
		var e error
		output, e = p.Call(key, start, timeout)
		return e
	})
	if err == nil {
		err = decodePayload(c.run.codec(), output, &value)
	}
	return value, stepFailure(key, err, nil)
}

func childOptions(o *ChildOptions) ChildOptions {
	if o == nil {
		return ChildOptions{}
	}
	return *o
}

func (c *Context) makeStart(workflow string, input any, o *StartOptions) (*passage.Start, error) {
	body, err := makeStartBody(c.run.codec(), c.run.worker.engine.storeClock(c), workflow, input, o)
	if err == nil {
		err = checkPlainKey("what a function starts", body.OnExisting, 0)
	}
	if err != nil {
		return nil, err
	}
	metadata, err := metadataText(body.Metadata)
	if err != nil {
		return nil, err
	}
	tags, err := tagsText(body.Tags)
	return &passage.Start{Workflow: workflow, Version: body.Version, Input: body.Input, Key: body.Key,
		StartAt: body.StartAt, Metadata: metadata, Tags: tags}, err
}

func tagsText(tags map[string]string) (json.RawMessage, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	return encodeJSON(tags)
}

func metadataText(metadata map[string]any) (json.RawMessage, error) {
	if len(metadata) == 0 {
		return nil, nil
	}
	return encodeJSON(metadata)
}
