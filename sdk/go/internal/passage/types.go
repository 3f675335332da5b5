// Package passage has the rules of a run ("passage") of a durable function in Go, and the
// interface that they share with libcairn's.
//
// A run starts from the top of the function's code. What is in the history is answered from
// there; the first thing that is not is executed, and committed before the next one begins.
package passage

import (
	"encoding/json"
	"time"
)

// Passage is one run of a function. It is used by one goroutine at a time. JSON texts that are
// nil are null.
type Passage interface {
	// BeginStep answers a step from the history (work is nil), or asks for its execution, which
	// EndStep must end.
	BeginStep(o *StepOptions) (work *Work, output []byte, err error)
	EndStep(work *Work, end *StepEnd) (output []byte, err error)

	Sleep(key string, d time.Duration) error
	SleepUntil(key string, at time.Time) error
	WaitEvent(key, event string, timeout time.Duration) ([]byte, error) // timeout < 0: without limit
	Now() (time.Time, error)
	Random() (float64, error)
	UUID() (string, error)
	StartJob(key string, job *Job) (id string, err error)
	StartWorkflow(key string, start *Start) (id string, err error)
	Call(key string, start *Start, timeout time.Duration) ([]byte, error)
	Log(level, message string, data []byte) error

	SetOutput(output []byte) error
	SetError(text string)

	// End commits what is left and releases the passage. code is that of the function's error;
	// "" if there is none. It returns the new status of the function's own step.
	End(code string) (status string, err error)
}

// StepOptions describe a step.
type StepOptions struct {
	Key       string
	Input     []byte
	Retries   int32
	Backoff   string
	Base, Max time.Duration
	Jitter    float64
	Timeout   time.Duration
	Undo      *CommitCompensation // nil: none
}

// Work is a step that is being executed.
type Work struct {
	ID, Step, Key        string // Key names the effect
	Attempt, MaxAttempts int32
	Native               any
}

// StepEnd is how a step's code ended. Outcome has the numbers of cairn_outcome.
type StepEnd struct {
	Outcome int
	Output  []byte
	Error   string
	Delay   time.Duration // of retry; < 0: the backoff
	Emitted []Outbound
}

// Outbound is an event for other systems.
type Outbound struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Job is a job to record with the step that remembers it.
type Job struct {
	Type        string          `json:"type"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	Key         string          `json:"key,omitempty"`
	Priority    int32           `json:"priority"`
	MaxAttempts int32           `json:"max_attempts"`
	RunAt       *time.Time      `json:"run_at,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Tags        json.RawMessage `json:"tags,omitempty"`
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Retry       json.RawMessage `json:"retry,omitempty"`
}

// Start is an instance to start with the step that remembers it.
type Start struct {
	Workflow string          `json:"workflow"`
	Version  int32           `json:"version,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Key      string          `json:"key,omitempty"`
	StartAt  *time.Time      `json:"start_at,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Tags     json.RawMessage `json:"tags,omitempty"`

	// Of a child: the instance that is told of its end, and with which event.
	TellInstance string `json:"tell_instance,omitempty"`
	TellEvent    string `json:"tell_event,omitempty"`
}

// Error is an error with a code of spec/errors.txt.
type Error struct{ Code, Message, Detail string }

func (e *Error) Error() string { return e.Message }

// Memory is what the task of a function brings: its history.
type Memory struct {
	Version  int32       `json:"version"`
	Revision int64       `json:"revision"`
	Places   int32       `json:"places"`
	Forced   bool        `json:"forced"`
	Steps    []*Step     `json:"steps"`
	Events   []*Received `json:"events"`
	Effect   int32       `json:"effect"`
	Effects  []Effect    `json:"effects"`
}

// Step is a stored step.
type Step struct {
	Seq       int32           `json:"seq"`
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Attempts  int32           `json:"attempts"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Error     string          `json:"error"`
	NextRunAt time.Time       `json:"next_run_at"`
}

// Received is a signal that no wait has taken.
type Received struct {
	ID      string          `json:"id"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

// Effect is the number in the key of a step that was undone.
type Effect struct {
	Step   string `json:"step"`
	Effect int32  `json:"effect"`
}
