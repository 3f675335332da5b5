package cairn

import (
	"encoding/json"
	"time"
)

// Job is a job as it was when it was read. Times that are not set are zero.
type Job struct {
	ID          string            `json:"id"`
	Type        string            `json:"type"`
	Status      string            `json:"status"` // pending, leased, succeeded, failed, cancelled
	Key         string            `json:"idempotency_key"`
	LeasedBy    string            `json:"leased_by"`
	LastError   string            `json:"last_error"`
	Payload     json.RawMessage   `json:"payload"`
	Result      json.RawMessage   `json:"result"`
	Metadata    json.RawMessage   `json:"metadata"`
	Tags        map[string]string `json:"tags"`
	TimeoutMS   int64             `json:"timeout_ms"` // how long a call may take; 0: no limit
	Retry       json.RawMessage   `json:"retry"`      // null: the default
	Why         *Why              `json:"why"`        // of a single job: why it has not ended, or how it ended
	Priority    int32             `json:"priority"`
	Attempt     int32             `json:"attempt"` // calls that ended in an error, a retry or a lost lease
	MaxAttempts int32             `json:"max_attempts"`
	RunAt       time.Time         `json:"run_at"`
	LeaseUntil  time.Time         `json:"lease_until"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	DeletedAt   time.Time         `json:"deleted_at"`
	Schedule    string            `json:"schedule"`    // that has recorded it
	Group       string            `json:"group"`       // groups of a type take turns
	ErrorGroup  string            `json:"error_group"` // errors that are alike have the same; "": none
}

// Instance is an execution of a workflow or function, as it was when it was read.
type Instance struct {
	ID           string            `json:"id"`
	Workflow     string            `json:"workflow"`
	Key          string            `json:"key"`
	Status       string            `json:"status"`
	Version      int32             `json:"version"`
	Generation   int32             `json:"generation"` // rises at a restart
	CurrentSteps []string          `json:"current_steps"`
	Input        json.RawMessage   `json:"input"`
	Output       json.RawMessage   `json:"output"`
	Metadata     json.RawMessage   `json:"metadata"`
	Tags         map[string]string `json:"tags"`
	Why          *Why              `json:"why"`        // of a single instance: the most urgent reason
	LastError    *LastError        `json:"last_error"` // nil: no step has failed
	UndoError    *LastError        `json:"undo_error"` // of the latest compensation that failed
	CreatedAt    time.Time         `json:"created_at"`
	StartAt      time.Time         `json:"start_at"`
	StartedAt    time.Time         `json:"started_at"`
	FinishedAt   time.Time         `json:"finished_at"`
	Schedule     string            `json:"schedule"`    // that has started it
	Source       string            `json:"source"`      // the instance that it runs again
	Group        string            `json:"group"`       // of its tasks
	ErrorGroup   string            `json:"error_group"` // errors that are alike have the same; "": none
	Parent       string            `json:"parent"`      // the instance that is told of its end
}

// Why says in one sentence why a job or instance has not ended, or how it ended.
type Why struct {
	Code    string      `json:"code"`    // the case, such as "event" or "unserved"
	Urgency string      `json:"urgency"` // person, stuck, failing, works, waits, ended
	Step    string      `json:"step"`    // "": the job or instance itself
	Text    string      `json:"text"`
	Since   time.Time   `json:"since"`
	Actions []WhyAction `json:"actions"` // what a person can do, the first choice first
}

// WhyAction is something that helps.
type WhyAction struct {
	Action string          `json:"action"`
	Values json.RawMessage `json:"values"`
	CLI    string          `json:"cli"` // the command that does it
}

// LastError is the error of the step of an instance that failed last.
type LastError struct {
	Step    string    `json:"step"`
	Message string    `json:"message"`
	Attempt int32     `json:"attempt"`
	At      time.Time `json:"at"`
}

// StepInfo is a step of an instance.
type StepInfo struct {
	ID                   string          `json:"id"` // of its task
	Seq                  int32           `json:"seq"`
	Name                 string          `json:"name"`
	Kind                 string          `json:"kind"`
	Handler              string          `json:"handler"`
	Status               string          `json:"status"`
	Attempts             int32           `json:"attempts"`
	MaxAttempts          int32           `json:"max_attempts"`
	Input                json.RawMessage `json:"input"`
	Output               json.RawMessage `json:"output"`
	Error                string          `json:"error"`
	UndoError            string          `json:"undo_error"`
	NextRunAt            time.Time       `json:"next_run_at"`
	StartedAt            time.Time       `json:"started_at"`
	FinishedAt           time.Time       `json:"finished_at"`
	Priority             int32           `json:"priority"`
	Metadata             json.RawMessage `json:"metadata"`
	WaitingEvent         string          `json:"waiting_event"`
	DeadlineAt           time.Time       `json:"deadline_at"`
	LockedBy             string          `json:"locked_by"`
	LockedUntil          time.Time       `json:"locked_until"`
	CompensationAttempts int32           `json:"compensation_attempts"`
	CommitNo             int64           `json:"commit_no"` // the order in which steps ended; 0: not yet
	WaitFor              []string        `json:"wait_for"`  // of a join, a name for each branch; nil: it is none
}

// Event is something that happened to a job, an instance or a step.
type Event struct {
	ID   int64           `json:"id,string"` // increases
	Type string          `json:"type"`
	Step string          `json:"step"` // "": it is about the job or instance itself
	Data json.RawMessage `json:"data"`
	At   time.Time       `json:"at"`
}

// StreamEvent is an event of any job or instance. Its ID, in decimal, is the cursor behind it.
type StreamEvent struct {
	Subject string `json:"subject"` // the id of the job or instance
	Event
}

// Log is a line that a function has logged.
type Log struct {
	ID      int64           `json:"id,string"` // increases
	Level   string          `json:"level"`     // debug, info, warn, error
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
	Step    string          `json:"step"`    // "": the function itself
	Attempt int32           `json:"attempt"` // of the step, from 1
	At      time.Time       `json:"at"`
}

// DLQRecord is a failed step or compensation that needs a person's attention.
type DLQRecord struct {
	ID         string          `json:"id"`
	InstanceID string          `json:"instance_id"`
	WorkflowID string          `json:"workflow_id"` // name and version, such as "order/1"
	StepID     string          `json:"step_id"`
	StepName   string          `json:"step_name"`
	StepType   string          `json:"step_type"`
	Error      string          `json:"error"`
	Reason     string          `json:"reason"`
	Input      json.RawMessage `json:"input"`
	Open       bool            `json:"is_open"`
	CreatedAt  time.Time       `json:"created_at"`
}

// Definition is a deployed workflow.
type Definition struct {
	Name       string          `json:"name"`
	Version    int32           `json:"version"`
	Hash       string          `json:"hash"`
	Definition json.RawMessage `json:"definition"`
	CreatedAt  time.Time       `json:"created_at"`
}

// Deployed is the answer to a deployment.
type Deployed struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`
	Version  int32  `json:"version"`
	Existing bool   `json:"existing"` // the same content was deployed already
}

// Signalled is the answer to a signal.
type Signalled struct {
	ID       string `json:"id"`
	Existing bool   `json:"existing"` // the id was known; nothing was written
	Taken    bool   `json:"taken"`    // a step waited for it and continues
	Kept     bool   `json:"kept"`     // it was taken, or is kept for a later wait
}

// RegistryEntry says which runtime executes a type.
type RegistryEntry struct {
	WorkflowName string    `json:"workflow_name"` // the type
	IntentType   string    `json:"intent_type"`
	Runtime      string    `json:"runtime"`
	IsEnabled    bool      `json:"is_enabled"` // false: the type is not claimed
	Description  string    `json:"description"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// OutboxEvent is an event that a handler has emitted, to be delivered elsewhere.
type OutboxEvent struct {
	ID         string          `json:"id"`
	InstanceID string          `json:"instance_id"`
	Step       string          `json:"step"`
	Event      string          `json:"event"`
	Payload    json.RawMessage `json:"payload"`
	CreatedAt  time.Time       `json:"created_at"`
}

// Finding is the result of one check of Doctor.
type Finding struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, warning, error
	Text   string `json:"text"`
}

// Limit says how many tasks of some types may be leased at one time, or begin in a time.
type Limit struct {
	Name        string    `json:"name"`
	Types       string    `json:"types"`                 // a type, or a prefix such as "mail.%"
	Concurrency int32     `json:"concurrency,omitempty"` // so many at one time; 0: any number
	Rate        *Rate     `json:"rate,omitempty"`        // nil: any number
	PerGroup    bool      `json:"per_group"`             // for each group, not in the whole store
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Taken       int32     `json:"taken"`   // tasks that match and are leased
	Waiting     int32     `json:"waiting"` // tasks that match and could be claimed, up to 10000 of a type
}

// Rate is a bucket of N tokens, which is filled evenly in PerMS milliseconds.
type Rate struct {
	N     int32 `json:"n"`
	PerMS int64 `json:"per_ms"`
}

// Schedule starts a job or an instance again and again: by Cron or Every, a Task or a Workflow. What
// follows Paused is filled in when schedules are read.
type Schedule struct {
	Name      string          `json:"name"`
	Cron      string          `json:"cron"` // such as "0 2 * * *" or "@daily"
	Every     time.Duration   `json:"-"`
	Task      string          `json:"task"`
	Workflow  string          `json:"workflow"`
	Version   int32           `json:"version"` // of the workflow; 0: the highest at the time
	Input     json.RawMessage `json:"input"`
	Timezone  string          `json:"timezone"` // of Cron, such as "Europe/Berlin"; "": UTC
	Overlap   string          `json:"overlap"`  // skip, allow, queue, cancel; "": skip
	CatchUp   string          `json:"catch_up"` // none, last, all; "": last
	Paused    bool            `json:"paused"`
	NextAt    time.Time       `json:"next_at"` // zero: it is paused, or no time is left
	LastAt    time.Time       `json:"last_at"`
	WaitingAt time.Time       `json:"waiting_at"` // of a run that waits for the end of an earlier one
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	Runs      []ScheduleRun   `json:"runs"` // the latest, newest first
}

// ScheduleRun is what became of a time of a schedule.
type ScheduleRun struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`   // job or instance
	ID     string    `json:"id"`     // "": nothing was started
	Status string    `json:"status"` // of the job or instance; skipped, failed: nothing was started
	Error  string    `json:"error"`  // why nothing was started
}

// UnmarshalJSON reads the fields of an answer, whose every_ms is Every.
func (s *Schedule) UnmarshalJSON(text []byte) error {
	type plain Schedule
	answer := struct {
		*plain
		EveryMS int64 `json:"every_ms"`
	}{plain: (*plain)(s)}
	err := json.Unmarshal(text, &answer)
	s.Every = time.Duration(answer.EveryMS) * time.Millisecond
	return err
}
