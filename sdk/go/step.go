package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// Step executes a step of a function, or answers its stored output. What it returns is always
// the decoded JSON, also the first time. In a loop the same key may be used again.
func Step[T any](c *Context, key string, step func(ctx context.Context) (T, error), options *StepOptions) (T, error) {
	var value T
	code := encodedStep(c, step)
	if err := c.run.guard.enter(key); err != nil {
		return value, err
	}
	defer c.run.guard.leave()
	output, err := c.run.step(c, key, code, options)
	if err != nil {
		return value, err
	}
	err = decodePayload(c.run.codec(), output, &value)
	return value, err
}

func encodedStep[T any](c *Context, step func(ctx context.Context) (T, error)) stepCode {
	return func(ctx context.Context) (json.RawMessage, error) {
		value, err := step(ctx)
		if err != nil {
			return nil, err
		}
		return encodeResult(c.run.codec(), value)
	}
}

type stepCode func(ctx context.Context) (json.RawMessage, error)

// begun is a step that was begun: its output, or the work that is to be done.
type begun struct {
	key    string
	work   *passage.Work
	output []byte
	code   stepCode
	task   *Task
	limit  time.Duration
	err    error
}

// step begins a step, executes its code if need be, and ends it.
func (r *functionRun) step(c *Context, key string, code stepCode, options *StepOptions) ([]byte, error) {
	b, err := r.beginStep(key, code, options)
	if err != nil || b.work == nil {
		return b.output, err
	}
	if err := r.leaveIfEnding(); err != nil {
		return nil, err
	}
	end := r.execStep(c, b)
	return r.endStep(b, end)
}

func (r *functionRun) beginStep(key string, code stepCode, options *StepOptions) (*begun, error) {
	b := &begun{key: key, code: code}
	o, input, err := stepOptions(r.codec(), key, options)
	if err != nil {
		return b, err
	}
	b.limit = o.Timeout
	err = r.exchange(func(p passage.Passage) error {
		var e error
		b.work, b.output, e = p.BeginStep(o)
		return e
	})
	if err != nil {
		return b, stepFailure(key, err, nil)
	}
	if b.work != nil {
		b.task = r.stepTask(b.work, input)
	}
	return b, nil
}

// stepTask is the task that a step's code sees; its Key is for idempotency.
func (r *functionRun) stepTask(work *passage.Work, input json.RawMessage) *Task {
	own := &r.call.task.task
	task := &Task{ID: work.ID, Kind: "step", Type: work.Step, Key: work.Key, InstanceID: own.InstanceID, Step: work.Step, Worker: own.Worker,
		Input: input, Metadata: own.Metadata, Attempt: work.Attempt, MaxAttempts: work.MaxAttempts, LeaseUntil: own.LeaseUntil, Engine: own.Engine, lease: own.lease}
	task.Logger = r.worker.logger(task)
	return task
}

// leaveIfEnding gives the task back if the worker ends. What has finished was committed when the
// step began, so another worker begins with this step.
func (r *functionRun) leaveIfEnding() error {
	r.worker.lock.Lock()
	isEnding := r.worker.isEnding
	r.worker.lock.Unlock()
	if !isEnding {
		return nil
	}
	return r.release()
}

func (r *functionRun) release() error {
	err := newError(ErrSuspended, "the worker ends; another one continues the function")
	r.guard.setOver(err)
	r.guard.isReleased = true
	release := releaseOf(r.call.task)
	if _, failure := r.worker.engine.link.report(context.Background(), r.worker.config.Name, []*result{release}, nil); failure != nil {
		r.call.task.task.Logger.Warn("the function could not be given back; its lease will end", "error", oneLine(failure))
	}
	return err
}

// execStep calls the code of a step.
func (r *functionRun) execStep(c *Context, b *begun) *result {
	ctx := context.WithValue(c.Context, taskKey{}, b.task)
	if b.limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, b.limit, &StoppedError{"timeout"})
		defer cancel()
		ctx = limited
	}
	output, err := func() (output json.RawMessage, err error) {
		defer recoverPanic(b.task.Logger, &err)
		return b.code(ctx)
	}()
	b.err = err
	end := resultOf(&leased{task: Task{Kind: "step"}}, output, err, b.task.takeEmitted())
	b.task.tellFailure(end)
	return end
}

// endStep ends a step whose code has returned. A call that ended because the worker does is not
// counted: the function is given back.
func (r *functionRun) endStep(b *begun, end *result) ([]byte, error) {
	if err := r.guard.check(); err != nil {
		return nil, err // the run did not wait for it, and does not want what it gives
	}
	r.worker.lock.Lock()
	isShutDown := r.call.stop == "shutdown"
	r.worker.lock.Unlock()
	if isShutDown && b.err != nil {
		return nil, r.release()
	}
	said := &passage.StepEnd{Outcome: int(end.outcome), Output: end.output, Error: end.err, Delay: end.delay}
	for _, e := range end.emitted {
		said.Emitted = append(said.Emitted, passage.Outbound{Event: e.event, Payload: e.payload})
	}
	var output []byte
	err := r.exchangeAnyway(func(p passage.Passage) error {
		var e error
		output, e = p.EndStep(b.work, said)
		return e
	})
	return output, stepFailure(b.key, err, b.err)
}

// stepFailure makes the error of a failed step a StepFailedError.
func stepFailure(key string, err, cause error) error {
	if !errors.Is(err, ErrStepFailed) {
		return err
	}
	var known *Error
	errors.As(err, &known)
	failed := &StepFailedError{Key: key, Message: known.Message, Err: cause}
	if i := strings.LastIndex(known.Detail, "call "); i >= 0 {
		_, _ = fmt.Sscanf(known.Detail[i:], "call %d", &failed.Attempts)
	}
	return failed
}

func stepOptions(codec Codec, key string, given *StepOptions) (*passage.StepOptions, json.RawMessage, error) {
	o := &passage.StepOptions{Key: key, Retries: 2}
	o.Backoff, o.Base, o.Max, o.Jitter = delays(nil)
	input := json.RawMessage("null")
	if given == nil {
		return o, input, nil
	}
	var err error
	if given.Input != nil {
		if input, err = encodeResult(codec, given.Input); err != nil {
			return nil, nil, err
		}
		o.Input = input
	}
	o.Timeout = given.Timeout
	if given.Retries != nil {
		o.Retries = *given.Retries
	}
	o.Backoff, o.Base, o.Max, o.Jitter = delays(given.Backoff)
	o.Undo, err = undoOf(given.Compensation)
	return o, input, err
}

// delays fills in what a Backoff leaves out.
func delays(b *Backoff) (kind string, base, longest time.Duration, jitter float64) {
	kind, base, longest = "exponential", time.Second, 5*time.Minute
	if b == nil {
		return
	}
	if b.Kind != "" {
		kind = b.Kind
	}
	if b.Base > 0 {
		base, longest = b.Base, max(longest, b.Base)
	}
	if b.Max > 0 {
		longest = b.Max
	}
	return kind, base, longest, b.Jitter
}

func undoOf(c *Compensation) (*passage.CommitCompensation, error) {
	if c == nil {
		return nil, nil
	}
	metadata, err := metadataText(c.Metadata)
	if err != nil {
		return nil, err
	}
	kind, base, longest, jitter := delays(c.Retry)
	undo := &passage.CommitCompensation{Handler: c.Handler, MaxAttempts: 3, TimeoutMS: toMS(c.Timeout), Idempotent: !c.Once, Metadata: metadata,
		Retry: passage.CommitRetry{Backoff: kind, BaseMS: toMS(base), MaxMS: toMS(longest), Jitter: jitter}}
	if c.MaxAttempts != nil {
		undo.MaxAttempts = *c.MaxAttempts
	}
	if c.Once {
		undo.MaxAttempts = min(undo.MaxAttempts, 1)
	}
	return undo, nil
}

// ---- side by side

// Parallel is a step for Gather.
type Parallel struct {
	key     string
	options *StepOptions
	code    func(c *Context) stepCode
	store   func(codec Codec, output []byte) error
}

// Go makes a step for Gather; its output is stored in into.
func Go[T any](key string, into *T, step func(ctx context.Context) (T, error), options *StepOptions) Parallel {
	return Parallel{key: key, options: options,
		code:  func(c *Context) stepCode { return encodedStep(c, step) },
		store: func(codec Codec, output []byte) error { return decodePayload(codec, output, into) }}
}

// Gather executes steps side by side and returns when all of them have ended. Keys are used in
// the order written, so that every run sees the same. The errors of steps that failed are joined.
func Gather(c *Context, steps ...Parallel) error {
	if len(steps) == 0 {
		return nil
	}
	if err := c.run.guard.enter(steps[0].key); err != nil {
		return err
	}
	defer c.run.guard.leave()
	all := make([]*begun, 0, len(steps))
	var failures []error
	for _, s := range steps {
		b, err := c.run.beginStep(s.key, s.code(c), s.options)
		if err != nil && !errors.Is(err, ErrStepFailed) {
			return err
		}
		if err != nil {
			failures = append(failures, err)
		}
		all = append(all, b)
	}
	if err := c.run.leaveIfEnding(); err != nil {
		return err
	}
	failures = append(failures, c.run.execAll(c, all)...)
	for i, s := range steps {
		if all[i].output != nil {
			failures = append(failures, s.store(c.run.codec(), all[i].output))
		}
	}
	if over := c.run.guard.suspended(); over != nil {
		return over
	}
	return errors.Join(failures...)
}

// execAll calls the code of all steps that were begun, each in a goroutine of its own.
func (r *functionRun) execAll(c *Context, all []*begun) []error {
	var group sync.WaitGroup
	errs := make([]error, len(all))
	for i, b := range all {
		if b.work == nil {
			continue
		}
		group.Add(1)
		r.worker.engine.spawn(func() {
			defer group.Done()
			b.output, errs[i] = r.endStep(b, r.execStep(c, b))
		})
	}
	group.Wait()
	return errs
}
