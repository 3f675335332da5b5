package cairn

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// StartOptions are the options of an instance; nil means the defaults.
type StartOptions struct {
	Version  int32             // 0: the highest
	Key      string            // a second instance of the workflow with this key is not started; "": no key
	At       time.Time         // not before this time; zero: now
	Delay    time.Duration     // from now; excludes At
	Metadata map[string]any    // kept beside the input, such as a trace context
	Tags     map[string]string // it is found by them, see InstanceFilter; at most 16
	Group    string            // of its tasks: groups of a type take turns, and limits can count each by itself

	OnExisting OnExisting // what to do if the key is known; "": ReturnExisting
}

// InstanceFilter says which instances Instances lists; what is empty is not compared.
type InstanceFilter struct {
	Status, Workflow, Key string
	Tags                  map[string]string // with all of these
	Limit                 int               // 0: all
}

// SignalOptions are the options of a signal; nil means the defaults.
type SignalOptions struct {
	ID      string // a second signal with this id changes nothing; "": a new id
	NoLatch bool   // it is not kept if no step waits for it
}

// Definer is what can be deployed: a Workflow or a Text.
type Definer interface {
	Text() (string, error)
}

// Text is the text of a workflow file, YAML or JSON.
type Text string

// Text returns the text itself.
func (t Text) Text() (string, error) { return string(t), nil }

// Deploy stores a workflow. The same content again changes nothing; other content under a
// known name and version is ErrConflict.
func (e *Engine) Deploy(ctx context.Context, workflow Definer) (*Deployed, error) {
	text, err := workflow.Text()
	if err != nil {
		return nil, err
	}
	return e.deploy(ctx, text, url.Values{"file": {"workflow"}})
}

// DeployFile deploys the workflow in a file.
func (e *Engine) DeployFile(ctx context.Context, path string) (*Deployed, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return e.deploy(ctx, string(text), url.Values{"file": {filepath.Base(path)}})
}

func (e *Engine) deploy(ctx context.Context, text string, query url.Values) (*Deployed, error) {
	var deployed Deployed
	target := "/v1/workflows"
	if query.Get("only") != "" { // the server reads the role from the first parameter
		target += "?only=" + query.Get("only")
	} else {
		target = withQuery(target, query)
	}
	err := e.do(ctx, request{method: "POST", target: target, body: []byte(text), repeat: true}, &deployed)
	if err != nil {
		return nil, err
	}
	return &deployed, nil
}

// Workflows lists deployed workflows by name and version.
func (e *Engine) Workflows(ctx context.Context) func(yield func(*Definition, error) bool) {
	return list[Definition](ctx, e, "/v1/workflows", nil, 0)
}

// startBody is the JSON of an instance to start.
type startBody struct {
	Workflow string            `json:"workflow"`
	Version  int32             `json:"version,omitempty"`
	Input    json.RawMessage   `json:"input"`
	Key      string            `json:"key,omitempty"`
	StartAt  *time.Time        `json:"start_at,omitempty"`
	Metadata map[string]any    `json:"metadata,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`

	OnExisting OnExisting `json:"on_existing,omitempty"`
	Group      string     `json:"group,omitempty"`
}

func makeStartBody(codec Codec, now func() (time.Time, error), workflow string, input any, o *StartOptions) (startBody, error) {
	text, err := encodePayload(codec, input)
	if err != nil {
		return startBody{}, err
	}
	body := startBody{Workflow: workflow, Input: text}
	if o != nil {
		body.Version, body.Key, body.Metadata = o.Version, o.Key, o.Metadata
		body.Tags, body.OnExisting, body.Group = o.Tags, o.OnExisting, o.Group
		body.StartAt, err = chooseTime(now, o.At, o.Delay)
	}
	return body, err
}

// Start starts an instance of a workflow. An input of nil is {}.
func (e *Engine) Start(ctx context.Context, workflow string, input any, options *StartOptions) (*InstanceHandle[json.RawMessage], error) {
	return startInstance[json.RawMessage](ctx, e, workflow, input, options)
}

func startInstance[R any](ctx context.Context, e *Engine, workflow string, input any, options *StartOptions) (*InstanceHandle[R], error) {
	body, err := makeStartBody(e.config.Codec, e.storeClock(ctx), workflow, input, options)
	if err != nil {
		return nil, err
	}
	var made enqueued
	if err := e.post(ctx, "/v1/instances", body, body.OnExisting.isFound(body.Key), &made); err != nil {
		return nil, err
	}
	return &InstanceHandle[R]{ID: made.ID, Existing: made.Existing, engine: e}, nil
}

// Instances lists instances, newest first.
func (e *Engine) Instances(ctx context.Context, filter InstanceFilter) func(yield func(*Instance, error) bool) {
	query := url.Values{}
	setQuery(query, "status", filter.Status)
	setQuery(query, "workflow", filter.Workflow)
	setQuery(query, "key", filter.Key)
	setTags(query, filter.Tags)
	return list[Instance](ctx, e, "/v1/instances", query, filter.Limit)
}

// InstanceHandle stands for an instance whose result is an R.
type InstanceHandle[R any] struct {
	ID       string
	Existing bool // the key was known: this is the earlier one

	engine *Engine
}

// InstanceOf returns a handle of an instance. No request is made.
func InstanceOf[R any](e *Engine, id string) *InstanceHandle[R] {
	return &InstanceHandle[R]{ID: id, engine: e}
}

func (h *InstanceHandle[R]) path() string { return "/v1/instances/" + segment(h.ID) }

// Get reads the instance.
func (h *InstanceHandle[R]) Get(ctx context.Context) (*Instance, error) {
	var instance Instance
	if err := h.engine.get(ctx, h.path(), &instance); err != nil {
		return nil, err
	}
	return &instance, nil
}

// Status reads the instance's status.
func (h *InstanceHandle[R]) Status(ctx context.Context) (string, error) {
	instance, err := h.Get(ctx)
	if err != nil {
		return "", err
	}
	return instance.Status, nil
}

// An instance that is paused or in the dead letter queue has not ended: a person may still save it.
func isInstanceEnded(i *Instance) bool {
	return i.Status == "completed" || i.Status == "failed" || i.Status == "cancelled" || i.Status == "aborted"
}

// Wait returns the instance when it has ended, whichever process ends it.
func (h *InstanceHandle[R]) Wait(ctx context.Context) (*Instance, error) {
	return waitFor(ctx, h.engine, h.path(), isInstanceEnded)
}

// Result waits for the instance's end and returns its output. The error of an instance that
// failed, was cancelled or aborted is an EndedError.
func (h *InstanceHandle[R]) Result(ctx context.Context) (R, error) {
	var result R
	instance, err := h.Wait(ctx)
	if err != nil {
		return result, err
	}
	if instance.Status != "completed" {
		return result, &EndedError{Instance: instance}
	}
	err = decodePayload(h.engine.config.Codec, instance.Output, &result)
	return result, err
}

// Done reports whether the instance has ended.
func (h *InstanceHandle[R]) Done(ctx context.Context) (bool, error) {
	instance, err := h.Get(ctx)
	return err == nil && isInstanceEnded(instance), err
}

// Signal sends a signal to the instance. A payload of nil is null.
func (h *InstanceHandle[R]) Signal(ctx context.Context, event string, payload any, options *SignalOptions) (*Signalled, error) {
	text, err := encodeResult(h.engine.config.Codec, payload)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"event": event, "payload": text}
	if options != nil && options.ID != "" {
		body["id"] = options.ID
	}
	if options != nil && options.NoLatch {
		body["latch"] = "off"
	}
	var signalled Signalled
	if err := h.engine.post(ctx, h.path()+"/signal", body, body["id"] != nil, &signalled); err != nil {
		return nil, err
	}
	return &signalled, nil
}

func (h *InstanceHandle[R]) decide(ctx context.Context, step, decision, by, comment string) error {
	body := map[string]string{"decision": decision, "by": by}
	if comment != "" {
		body["comment"] = comment
	}
	return h.engine.post(ctx, h.path()+"/steps/"+segment(step)+"/decision", body, false, nil)
}

// Confirm decides a human step: the instance continues.
func (h *InstanceHandle[R]) Confirm(ctx context.Context, step, by, comment string) error {
	return h.decide(ctx, step, "confirmed", by, comment)
}

// Reject decides a human step: the instance is aborted.
func (h *InstanceHandle[R]) Reject(ctx context.Context, step, by, comment string) error {
	return h.decide(ctx, step, "rejected", by, comment)
}

func (h *InstanceHandle[R]) end(ctx context.Context, verb, by, reason string) error {
	return h.engine.post(ctx, h.path()+"/"+verb, map[string]string{"by": by, "reason": reason}, true, nil)
}

// Cancel stops the instance and undoes what it has done.
func (h *InstanceHandle[R]) Cancel(ctx context.Context, by, reason string) error {
	return h.end(ctx, "cancel", by, reason)
}

// Abort stops the instance and undoes nothing.
func (h *InstanceHandle[R]) Abort(ctx context.Context, by, reason string) error {
	return h.end(ctx, "abort", by, reason)
}

// Pause lets running steps finish and starts nothing new.
func (h *InstanceHandle[R]) Pause(ctx context.Context) error {
	return h.engine.post(ctx, h.path()+"/pause", nil, false, nil)
}

// Resume continues a paused instance. With force, a function accepts code that no longer
// matches its history.
func (h *InstanceHandle[R]) Resume(ctx context.Context, force bool) error {
	return h.engine.post(ctx, h.path()+"/resume", map[string]bool{"force": force}, false, nil)
}

// Restart begins the instance again from its original input; nothing is undone.
func (h *InstanceHandle[R]) Restart(ctx context.Context) error {
	return h.engine.post(ctx, h.path()+"/restart", nil, false, nil)
}

// RerunOptions say where a rerun begins; nil means the beginning.
type RerunOptions struct {
	From  string // a step; "": the beginning
	Input any    // the input of that step, exactly as its handler gets it, or of the instance; nil: as it was
}

// Rerun runs it again as a new instance. Steps before From that ended are copied as they ended,
// and are not undone by the new instance; steps of other branches are executed.
func (h *InstanceHandle[R]) Rerun(ctx context.Context, options *RerunOptions) (*InstanceHandle[R], error) {
	var body struct {
		From  string          `json:"from,omitempty"`
		Input json.RawMessage `json:"input,omitempty"`
	}
	if options != nil {
		body.From = options.From
	}
	if options != nil && options.Input != nil {
		input, err := encodePayload(h.engine.config.Codec, options.Input)
		if err != nil {
			return nil, err
		}
		body.Input = input
	}
	var made enqueued
	if err := h.engine.post(ctx, h.path()+"/rerun", body, false, &made); err != nil {
		return nil, err
	}
	return &InstanceHandle[R]{ID: made.ID, engine: h.engine}, nil
}

// Retry tries the failed steps of a failed instance again, with all their attempts.
func (h *InstanceHandle[R]) Retry(ctx context.Context) error {
	return h.engine.post(ctx, h.path()+"/retry", nil, false, nil)
}

// Steps lists the steps of the instance, in the order of the file.
func (h *InstanceHandle[R]) Steps(ctx context.Context) func(yield func(*StepInfo, error) bool) {
	return list[StepInfo](ctx, h.engine, h.path()+"/steps", nil, 0)
}

// Events lists the history of the instance, oldest first.
func (h *InstanceHandle[R]) Events(ctx context.Context) func(yield func(*Event, error) bool) {
	return list[Event](ctx, h.engine, h.path()+"/events", nil, 0)
}

// Logs lists what a function has logged, oldest first.
func (h *InstanceHandle[R]) Logs(ctx context.Context) func(yield func(*Log, error) bool) {
	return list[Log](ctx, h.engine, h.path()+"/logs", nil, 0)
}
