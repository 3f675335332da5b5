package scenario

import (
	"encoding/json"
	"time"

	"cairn.invalid/cairn"
)

// file is a workflow file, as JSON.
type file struct {
	Workflow string `json:"workflow"`
	Version  int32  `json:"version"`
	DLQ      bool   `json:"dlq"`
	Input    struct {
		Schema  map[string]any `json:"schema"`
		Example any            `json:"example"`
	} `json:"input"`
	Steps []element `json:"steps"`
}

type element struct {
	Step         string      `json:"step"`
	Handler      string      `json:"handler"`
	MaxAttempts  int32       `json:"max_attempts"`
	Retry        *retry      `json:"retry"`
	Timeout      string      `json:"timeout"`
	Priority     *int32      `json:"priority"`
	OnFailure    string      `json:"on_failure"`
	OnTimeout    string      `json:"on_timeout"`
	Compensation *undo       `json:"compensation"`
	Condition    string      `json:"condition"`
	When         string      `json:"when"`
	Then         []element   `json:"then"`
	Else         []element   `json:"else"`
	Fork         string      `json:"fork"`
	Join         string      `json:"join"`
	Branches     [][]element `json:"branches"`
	SavePoint    string      `json:"save_point"`
	Human        string      `json:"human"`
	Wait         string      `json:"wait"`
	Event        string      `json:"event"`
	Sleep        string      `json:"sleep"`
	For          string      `json:"for"`
}

type retry struct {
	Backoff string `json:"backoff"`
	Base    string `json:"base"`
	Max     string `json:"max"`
}

func (r *retry) backoff() *cairn.Backoff {
	if r == nil {
		return nil
	}
	return &cairn.Backoff{Kind: r.Backoff, Base: duration(r.Base), Max: duration(r.Max)}
}

type undo struct {
	Handler     string         `json:"handler"`
	MaxAttempts *int32         `json:"max_attempts"`
	Retry       *retry         `json:"retry"`
	Timeout     string         `json:"timeout"`
	Idempotent  *bool          `json:"idempotent"`
	Metadata    map[string]any `json:"metadata"`
}

// UnmarshalJSON reads a task type, or an object as in workflow files.
func (u *undo) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &u.Handler)
	}
	type plain undo
	return json.Unmarshal(data, (*plain)(u))
}

func (u *undo) compensation() *cairn.Compensation {
	if u == nil {
		return nil
	}
	return &cairn.Compensation{Handler: u.Handler, MaxAttempts: u.MaxAttempts, Retry: u.Retry.backoff(), Timeout: duration(u.Timeout),
		Once: u.Idempotent != nil && !*u.Idempotent, Metadata: u.Metadata}
}

// duration reads "250ms", "30s", "10m", "24h" or "3d".
func duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	if last := len(text) - 1; text[last] == 'd' {
		return 24 * cairn.Must(time.ParseDuration(text[:last]+"h"))
	}
	return cairn.Must(time.ParseDuration(text))
}

func (f *file) build() *cairn.Workflow {
	w := cairn.NewWorkflow(f.Workflow, f.Version)
	if f.DLQ {
		w.DLQ()
	}
	w.Input(f.Input.Schema, f.Input.Example)
	addAll(w, f.Steps)
	return w
}

func addAll(w *cairn.Workflow, elements []element) {
	for i := range elements {
		add(w, &elements[i])
	}
}

func (e *element) spec() *cairn.StepSpec {
	spec := &cairn.StepSpec{Handler: e.Handler, MaxAttempts: e.MaxAttempts, Timeout: duration(e.Timeout),
		Priority: e.Priority, OnFailure: e.OnFailure, Retry: e.Retry.backoff(), Compensation: e.Compensation.compensation()}
	return spec
}

func add(w *cairn.Workflow, e *element) {
	wait := &cairn.WaitSpec{Timeout: duration(e.Timeout), OnTimeout: e.OnTimeout, OnFailure: e.OnFailure}
	switch {
	case e.Step != "":
		w.Step(e.Step, e.spec())
	case e.Condition != "":
		w.Condition(e.Condition, e.When, list(e.Then), list(e.Else))
	case e.Fork != "":
		branches := make([]func(*cairn.Workflow), len(e.Branches))
		for i, branch := range e.Branches {
			branches[i] = list(branch)
		}
		w.Fork(e.Fork, e.Join, branches...)
	case e.SavePoint != "":
		w.SavePoint(e.SavePoint)
	case e.Human != "":
		w.Human(e.Human, wait)
	case e.Wait != "":
		w.Wait(e.Wait, e.Event, wait)
	case e.Sleep != "":
		w.Sleep(e.Sleep, duration(e.For))
	}
}

func list(elements []element) func(*cairn.Workflow) {
	if elements == nil {
		return nil
	}
	return func(w *cairn.Workflow) { addAll(w, elements) }
}
