package cairn

import (
	"context"
	"encoding/json"
	"log/slog"
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

	lock    sync.Mutex
	emitted []emitted
}

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
