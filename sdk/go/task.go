package cairn

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"sync"
	"time"
)

// Task is what a handler executes. TaskFrom finds it in the handler's context.
type Task struct {
	ID          string
	Kind        string // job, step, compensation, function
	Type        string
	Key         string // of a job its key; of a step the name of the effect, the same for every call
	InstanceID  string // "" for jobs
	Step        string // its name; "" for jobs
	Reason      string // WAITING_TIMEOUT if the wait of the call before has timed out
	Worker      string
	Input       json.RawMessage
	Metadata    json.RawMessage
	Attempt     int32 // the number of this call, from 1
	MaxAttempts int32
	Signal      *Signal // what ended the wait of the call before; nil: none
	LeaseUntil  time.Time
	Deadline    time.Time // when this call times out; zero: it does not
	Engine      *Engine
	Logger      *slog.Logger // with the task's attributes

	lease   lease
	lock    sync.Mutex
	emitted []emitted
}

// lease is what a worker asks with; a step of a function is covered by that of its run.
type lease struct{ id, token string }

// Signal is an event that was sent to an instance.
type Signal struct {
	ID      string          `json:"id"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

type taskKey struct{}

// TaskFrom returns the task of a handler's context; nil outside of handlers.
func TaskFrom(ctx context.Context) *Task {
	task, _ := ctx.Value(taskKey{}).(*Task)
	return task
}

// Emit adds an event for other systems, which is committed with the step's result or wait. It is
// for steps only. A payload of nil is null.
func Emit(ctx context.Context, event string, payload any) error {
	task := TaskFrom(ctx)
	if task == nil {
		return newError(ErrMisuse, "Emit is called outside of a handler")
	}
	if task.Kind != "step" {
		return newError(ErrMisuse, "a task of the kind %q cannot emit events; a step can", task.Kind)
	}
	if event == "" {
		return newError(ErrBadInput, "event is empty")
	}
	text, err := encodeResult(task.Engine.config.Codec, payload)
	if err != nil {
		return err
	}
	task.lock.Lock()
	defer task.lock.Unlock()
	task.emitted = append(task.emitted, emitted{event, text})
	return nil
}

// InstanceInput returns the input of the instance that the step, compensation or function of this handler's
// context belongs to. It asks the engine.
func InstanceInput[T any](ctx context.Context) (T, error) {
	var input T
	task, answer, err := taskContext(ctx, "")
	if err == nil {
		err = deadPayload(decodePayload(task.Engine.config.Codec, answer.Input, &input))
	}
	return input, err
}

// OutputOf returns the output of a finished step of the same instance; ErrNotFound if it has not finished. It asks the engine.
func OutputOf[T any](ctx context.Context, step string) (T, error) {
	var output T
	if step == "" {
		return output, newError(ErrBadInput, "step is empty")
	}
	task, answer, err := taskContext(ctx, step)
	if err != nil {
		return output, err
	}
	text, isFinished := answer.Outputs[step]
	if !isFinished {
		return output, newError(ErrNotFound, "step %q has not finished", step)
	}
	return output, decodePayload(task.Engine.config.Codec, text, &output)
}

type contextAnswer struct {
	Input   json.RawMessage            `json:"input"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// taskContext asks for the instance's input and one step's output. Without a step it names the task's own, which has
// none yet, so that no output is sent.
func taskContext(ctx context.Context, step string) (*Task, *contextAnswer, error) {
	task := TaskFrom(ctx)
	if task == nil {
		return nil, nil, newError(ErrMisuse, "the instance is asked for outside of a handler")
	}
	if task.InstanceID == "" {
		return nil, nil, newError(ErrMisuse, "a job belongs to no instance")
	}
	query := url.Values{"worker": {task.Worker}, "token": {task.lease.token}}
	if step == "" && task.lease.id == task.ID {
		step = task.Step
	}
	setQuery(query, "step", step)
	answer := new(contextAnswer)
	err := task.Engine.get(ctx, withQuery("/v1/tasks/"+segment(task.lease.id)+"/context", query), answer)
	return task, answer, err
}

func (t *Task) takeEmitted() []emitted {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.emitted
}

// TaskType is a type of task that producers and workers share: its payload is a P, its result an R.
type TaskType[P, R any] struct{ Type string }

// NewTask names a task type.
func NewTask[P, R any](taskType string) *TaskType[P, R] { return &TaskType[P, R]{Type: taskType} }

// Handle registers the handler of the type and returns the type.
func (t *TaskType[P, R]) Handle(app *App, fn func(ctx context.Context, payload P) (R, error)) *TaskType[P, R] {
	Handle(app, t.Type, fn)
	return t
}

// Enqueue records a job of the type.
func (t *TaskType[P, R]) Enqueue(ctx context.Context, e *Engine, payload P, options *JobOptions) (*JobHandle[R], error) {
	return enqueueJob[R](ctx, e, t.Spec(payload, options))
}

// EnqueueTx records a job of the type in the caller's transaction.
func (t *TaskType[P, R]) EnqueueTx(ctx context.Context, tx *Tx, payload P, options *JobOptions) (TxID, error) {
	return tx.Enqueue(ctx, t.Type, payload, options)
}

// Spec is a job of the type, for EnqueueMany.
func (t *TaskType[P, R]) Spec(payload P, options *JobOptions) JobSpec {
	return JobSpec{Type: t.Type, Payload: payload, Options: options}
}

// Undo is the payload of a compensation.
type Undo[I, O any] struct {
	Input  I  `json:"input"`
	Output *O `json:"output"` // nil: the step had not completed
}
