package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// FunctionOptions are the options of a function; nil means the defaults.
type FunctionOptions struct {
	FromVersion   int32 // the oldest version whose instances this code accepts; 0: its own version
	CommitPassage bool  // all steps of a run in one commit: faster, but a crash repeats all of them
	MaxAttempts   int32 // it fails after this many lost leases in a row without a commit; 0: 3
	DLQ           bool  // if it fails, it is put in the dead letter queue
}

// FunctionType is a durable function that producers and workers share: its input is a P, its
// result an R.
type FunctionType[P, R any] struct {
	Name    string
	Version int32

	options FunctionOptions
}

// NewFunction names a function.
func NewFunction[P, R any](name string, version int32, options *FunctionOptions) *FunctionType[P, R] {
	f := &FunctionType[P, R]{Name: name, Version: version}
	if options != nil {
		f.options = *options
	}
	return f
}

// function is a registered function.
type function struct {
	name                 string
	version, fromVersion int32
	options              FunctionOptions
	run                  func(c *Context, input []byte) (json.RawMessage, error)
	wrap                 func(Handler) Handler
}

// Handle registers the code of the function and returns the function.
func (f *FunctionType[P, R]) Handle(app *App, fn func(ctx *Context, input P) (R, error)) *FunctionType[P, R] {
	run := func(c *Context, text []byte) (json.RawMessage, error) {
		var input P
		if err := decodePayload(c.run.codec(), text, &input); err != nil {
			return nil, err
		}
		value, err := fn(c, input)
		if err != nil {
			return nil, err
		}
		return encodeResult(c.run.codec(), value)
	}
	app.lock.Lock()
	defer app.lock.Unlock()
	app.functions = append(app.functions, function{name: f.Name, version: f.Version,
		fromVersion: f.options.FromVersion, options: f.options, run: run})
	return f
}

// functionText is the workflow file that a function is deployed as.
func functionText(name string, version int32, o FunctionOptions) (string, error) {
	attempts := o.MaxAttempts
	if attempts == 0 {
		attempts = 3
	}
	text, err := encodeJSON(map[string]any{"function": name, "version": version, "dlq": o.DLQ, "max_attempts": attempts})
	return string(text), err
}

func (e *Engine) deployFunction(ctx context.Context, name string, version int32, o FunctionOptions) error {
	text, err := functionText(name, version, o)
	if err == nil {
		_, err = e.deploy(ctx, text, url.Values{"only": {"function"}})
	}
	return err
}

// Start starts an instance of the function, in its own version unless the options name another.
// The function is deployed if the store does not know it.
func (f *FunctionType[P, R]) Start(ctx context.Context, e *Engine, input P, options *StartOptions) (*InstanceHandle[R], error) {
	own := StartOptions{}
	if options != nil {
		own = *options
	}
	if own.Version == 0 {
		own.Version = f.Version
	}
	handle, err := startInstance[R](ctx, e, f.Name, input, &own)
	if !errors.Is(err, ErrNotFound) || own.Version != f.Version {
		return handle, err
	}
	if err := e.deployFunction(ctx, f.Name, f.Version, f.options); err != nil {
		return nil, err
	}
	return startInstance[R](ctx, e, f.Name, input, &own)
}

// StartTx starts an instance of the function in the caller's transaction, as Start does: the function is deployed by the
// same transaction if the store does not know it. ErrMisuse: its version is known with other content.
func (f *FunctionType[P, R]) StartTx(ctx context.Context, tx *Tx, input P, options *StartOptions) (TxID, error) {
	own := StartOptions{}
	if options != nil {
		own = *options
	}
	if own.Version == 0 {
		own.Version = f.Version
	}
	if own.Version == f.Version {
		if err := tx.defineFunction(ctx, f.Name, f.Version, f.options); err != nil {
			return TxID{}, err
		}
	}
	return tx.Start(ctx, f.Name, input, &own)
}

// Call runs a function as a child and returns its result, as CallWorkflow does; in the function's own version unless the
// options name another.
func Call[P, R any](c *Context, f *FunctionType[P, R], input P, options *ChildOptions) (R, error) {
	own := childOptions(options)
	start := StartOptions{}
	if own.Start != nil {
		start = *own.Start
	}
	if start.Version == 0 {
		start.Version = f.Version
	}
	own.Start = &start
	return CallWorkflow[R](c, f.Name, input, &own)
}

// deployFunctions makes the worker's functions known to the store.
func (w *Worker) deployFunctions(ctx context.Context) error {
	for _, f := range w.routes.functions {
		if err := w.engine.deployFunction(ctx, f.name, f.version, f.options); err != nil {
			return err
		}
	}
	return nil
}

// findFunction is the code for an instance: that of its own version, else the highest that
// accepts it; nil: none.
func (r *routes) findFunction(name string, version int32) *function {
	var best *function
	for i := range r.functions {
		f := &r.functions[i]
		from := f.fromVersion
		if from == 0 {
			from = f.version
		}
		switch {
		case f.name != name:
		case f.version == version:
			return f
		case from <= version && version <= f.version && (best == nil || f.version > best.version):
			best = f
		}
	}
	return best
}

// unableRest is the pause before a run that could not begin is offered again.
const unableRest = time.Second

// executeFunction runs a function once, from the top. It ends with a commit of its own.
func (w *Worker) executeFunction(c *call) *result {
	task := &c.task.task
	f := w.routes.findFunction(task.Type, c.task.version)
	if f == nil {
		return &result{task: c.task, outcome: outcomeRelease, delay: -1, isMissing: true}
	}
	if err := w.engine.enter(); err != nil {
		return releaseOf(c.task)
	}
	p, err := w.engine.link.openPassage(w.config.Name, c.task, f.options.CommitPassage, w.config.Lease)
	w.engine.leave()
	if err != nil {
		task.Logger.Error("the function could not be begun", "error", oneLine(err))
		return &result{task: c.task, outcome: outcomeRelease, delay: unableRest}
	}
	run := &functionRun{guard: guard{function: f.name}, worker: w, call: c, passage: p}
	run.execute(f)
	return nil
}

// functionRun is a run of a function, behind its Context.
type functionRun struct {
	worker  *Worker
	call    *call
	passage passage.Passage
	guard   guard
}

func (r *functionRun) codec() Codec { return r.worker.engine.config.Codec }

// execute runs the code within the app's middleware, then ends the passage.
func (r *functionRun) execute(f *function) {
	var output json.RawMessage
	var err error
	code := f.wrap(func(ctx context.Context, task *Task) (json.RawMessage, error) {
		output, err = r.runCode(f, ctx, task)
		if r.guard.suspended() != nil {
			return nil, nil // middleware sees no error: the function goes on later
		}
		return output, err
	})
	task := &r.call.task.task
	if result, failure := safely(code, r.call.ctx, task); r.guard.suspended() == nil {
		output, err = result, failure
	}
	r.end(output, err)
}

func (r *functionRun) runCode(f *function, ctx context.Context, task *Task) (output json.RawMessage, err error) {
	defer recoverPanic(task.Logger, &err)
	return f.run(&Context{Context: ctx, run: r, version: f.version}, task.Input)
}

// endCode is the code with which a passage ends for the function's error. An error that the
// function passes on as it is keeps what the engine knows of it; any other is its own text.
func (r *functionRun) endCode(err error) string {
	var failed *StepFailedError
	var known *Error
	switch {
	case err == nil:
		return ""
	case r.guard.suspended() != nil:
		return "suspended"
	case errors.As(err, &failed) && error(failed) == err:
		return "step_failed"
	case errors.As(err, &known) && error(known) == err && isPassageCode(known.Code):
		return known.Code
	}
	r.passage.SetError(err.Error())
	return "step_failed"
}

func isPassageCode(code string) bool {
	switch code {
	case "suspended", "timed_out", "version_mismatch", "lease_lost":
		return true
	}
	return false
}

// endCalls lets no call in any more. A call that the function has left behind is waited for, but no longer than
// its lease; the error is what the run fails with for that.
func (r *functionRun) endCalls() error {
	idle, misuse := r.guard.end()
	r.worker.lock.Lock()
	isStopped := r.call.stop != ""
	r.worker.lock.Unlock()
	if misuse == nil || isStopped {
		return nil
	}
	lease := time.NewTimer(r.worker.config.Lease)
	defer lease.Stop()
	select {
	case <-idle:
	case <-lease.C:
	}
	return misuse
}

func (r *functionRun) end(output json.RawMessage, err error) {
	logger := r.call.task.task.Logger
	if misuse := r.endCalls(); misuse != nil {
		err = misuse
	}
	if r.worker.engine.enter() != nil {
		return // left behind, and the engine is closed: the lease ends by itself
	}
	defer r.worker.engine.leave()
	r.guard.lock.Lock()
	defer r.guard.lock.Unlock()
	if err == nil {
		err = r.passage.SetOutput(output)
	}
	code := r.endCode(err)
	if err != nil && code != "suspended" {
		logger.Error("the function failed for good", "error", oneLine(err))
	}
	_, endErr := r.passage.End(code)
	if endErr != nil && !r.guard.isReleased {
		logger.Warn("the end of a run was not accepted; it is repeated", "error", oneLine(endErr))
	}
}
