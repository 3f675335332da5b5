package cairn

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// JobOptions are the options of a job; nil means the defaults.
type JobOptions struct {
	Key         string            // a second job with this key is not recorded; "": no key
	Priority    *int32            // jobs with a lower number go first; nil: 100
	MaxAttempts int32             // handler calls in all; 0: 3
	At          time.Time         // not before this time; zero: now
	Delay       time.Duration     // from now; excludes At
	Metadata    map[string]any    // kept beside the payload, such as a trace context
	Tags        map[string]string // it is found by them, see JobFilter; at most 16
	Timeout     time.Duration     // a call that takes longer has failed; 0: no limit
	Retry       *Backoff          // nil: quadratic, from 1 min, jitter 0.1
	OnExisting  OnExisting        // what to do if the key is known; "": ReturnExisting
	Debounce    time.Duration     // runs this long after it was enqueued last, with the last payload; needs Key
	Group       string            // groups of a type take turns, see PutLimit; "": none
}

// OnExisting says what becomes of a job or an instance whose key is known.
type OnExisting string

const (
	ReturnExisting OnExisting = "return"         // the earlier one is returned
	FailIfExisting OnExisting = "fail"           // ErrConflict
	RestartFailed  OnExisting = "restart_failed" // the earlier one, which is retried or restarted if it has failed
	NewIfEnded     OnExisting = "new_if_ended"   // a new one gets the key if the earlier one has ended
)

// isFound says whether a second try of the same call finds what the first one has made.
func (o OnExisting) isFound(key string) bool {
	return key != "" && (o == "" || o == ReturnExisting)
}

// JobSpec is a job to record, for EnqueueMany.
type JobSpec struct {
	Type    string
	Payload any
	Options *JobOptions
}

// JobFilter says which jobs Jobs lists; what is empty is not compared.
type JobFilter struct {
	Status, Type, Key string            // Type is exact, or a prefix such as "billing.%"
	Tags              map[string]string // with all of these
	Limit             int               // 0: all
}

// jobBody is the JSON of a job to record.
type jobBody struct {
	Type        string               `json:"type"`
	Payload     json.RawMessage      `json:"payload"`
	Key         string               `json:"key,omitempty"`
	Priority    *int32               `json:"priority,omitempty"`
	RunAt       *time.Time           `json:"run_at,omitempty"`
	MaxAttempts int32                `json:"max_attempts,omitempty"`
	Metadata    map[string]any       `json:"metadata,omitempty"`
	Tags        map[string]string    `json:"tags,omitempty"`
	TimeoutMS   int64                `json:"timeout_ms,omitempty"`
	Retry       *passage.CommitRetry `json:"retry,omitempty"`
	OnExisting  OnExisting           `json:"on_existing,omitempty"`
	DebounceMS  int64                `json:"debounce_ms,omitempty"`
	Group       string               `json:"group,omitempty"`
}

// retryOf is a Backoff as jobs have it; nil: the default.
func retryOf(b *Backoff) *passage.CommitRetry {
	if b == nil {
		return nil
	}
	kind, base, longest, jitter := delays(b)
	return &passage.CommitRetry{Backoff: kind, BaseMS: toMS(base), MaxMS: toMS(longest), Jitter: jitter}
}

// retryText is the same as JSON; nil: the default.
func retryText(retry *passage.CommitRetry) (json.RawMessage, error) {
	if retry == nil {
		return nil, nil
	}
	return encodeJSON(retry)
}

type enqueued struct {
	ID       string `json:"id"`
	Existing bool   `json:"existing"`
}

// chooseTime is when work is due: at, or after a delay; nil: now.
func chooseTime(now func() (time.Time, error), at time.Time, delay time.Duration) (*time.Time, error) {
	switch {
	case delay < 0:
		return nil, newError(ErrBadInput, "Delay is %s; it must not be negative", delay)
	case delay > 0 && !at.IsZero():
		return nil, newError(ErrBadInput, "At and Delay exclude each other")
	case delay > 0:
		present, err := now()
		due := present.Add(delay)
		return &due, err
	case at.IsZero():
		return nil, nil
	}
	utc := at.UTC()
	return &utc, nil
}

func makeJobBody(codec Codec, now func() (time.Time, error), spec JobSpec) (jobBody, error) {
	payload, err := encodePayload(codec, spec.Payload)
	if err != nil {
		return jobBody{}, err
	}
	body := jobBody{Type: spec.Type, Payload: payload}
	if o := spec.Options; o != nil {
		body.Key, body.Priority, body.MaxAttempts, body.Metadata = o.Key, o.Priority, o.MaxAttempts, o.Metadata
		body.Tags, body.TimeoutMS, body.Retry, body.Group = o.Tags, toMS(o.Timeout), retryOf(o.Retry), o.Group
		if o.Timeout < 0 {
			return body, newError(ErrBadInput, "Timeout is %s; it must not be negative", o.Timeout)
		}
		body.OnExisting, body.DebounceMS = o.OnExisting, toMS(o.Debounce)
		if o.Debounce < 0 {
			return body, newError(ErrBadInput, "Debounce is %s; it must not be negative", o.Debounce)
		}
		body.RunAt, err = chooseTime(now, o.At, o.Delay)
	}
	return body, err
}

// storeClock reads the store's clock at most once.
func (e *Engine) storeClock(ctx context.Context) func() (time.Time, error) {
	var now time.Time
	var err error
	return func() (time.Time, error) {
		if now.IsZero() && err == nil {
			now, err = e.Now(ctx)
		}
		return now, err
	}
}

// Enqueue records a job. A payload of nil is {}; json.RawMessage("null") is null.
func (e *Engine) Enqueue(ctx context.Context, taskType string, payload any, options *JobOptions) (*JobHandle[json.RawMessage], error) {
	return enqueueJob[json.RawMessage](ctx, e, JobSpec{taskType, payload, options})
}

func enqueueJob[R any](ctx context.Context, e *Engine, spec JobSpec) (*JobHandle[R], error) {
	body, err := makeJobBody(e.config.Codec, e.storeClock(ctx), spec)
	if err != nil {
		return nil, err
	}
	var made enqueued
	if err := e.post(ctx, "/v1/jobs", body, body.OnExisting.isFound(body.Key), &made); err != nil {
		return nil, err
	}
	return &JobHandle[R]{ID: made.ID, Existing: made.Existing, engine: e}, nil
}

// EnqueueMany records jobs, as many as MaxBatch in one commit. A batch is recorded as a whole or
// not at all; if a later batch fails, the handles of the earlier ones are returned with the error.
func (e *Engine) EnqueueMany(ctx context.Context, specs []JobSpec) ([]*JobHandle[json.RawMessage], error) {
	handles := make([]*JobHandle[json.RawMessage], 0, len(specs))
	clock := e.storeClock(ctx)
	for len(specs) > 0 {
		batch := specs[:min(len(specs), e.config.MaxBatch)]
		specs = specs[len(batch):]
		made, err := e.enqueueBatch(ctx, clock, batch)
		if err != nil {
			return handles, err
		}
		for _, one := range made {
			handles = append(handles, &JobHandle[json.RawMessage]{ID: one.ID, Existing: one.Existing, engine: e})
		}
	}
	return handles, nil
}

func (e *Engine) enqueueBatch(ctx context.Context, clock func() (time.Time, error), specs []JobSpec) ([]enqueued, error) {
	var body struct {
		Jobs []jobBody `json:"jobs"`
	}
	repeat := true
	for _, spec := range specs {
		one, err := makeJobBody(e.config.Codec, clock, spec)
		if err != nil {
			return nil, err
		}
		repeat = repeat && one.OnExisting.isFound(one.Key)
		body.Jobs = append(body.Jobs, one)
	}
	var made struct {
		Items []enqueued `json:"items"`
	}
	err := e.post(ctx, "/v1/jobs", body, repeat, &made)
	return made.Items, err
}

// Jobs lists jobs, newest first, without deleted ones.
func (e *Engine) Jobs(ctx context.Context, filter JobFilter) func(yield func(*Job, error) bool) {
	query := url.Values{}
	setQuery(query, "status", filter.Status)
	setQuery(query, "type", filter.Type)
	setQuery(query, "key", filter.Key)
	setTags(query, filter.Tags)
	return list[Job](ctx, e, "/v1/jobs", query, filter.Limit)
}

// JobHandle stands for a job whose result is an R.
type JobHandle[R any] struct {
	ID       string
	Existing bool // the key was known: this is the earlier one

	engine *Engine
}

// JobOf returns a handle of a job. No request is made.
func JobOf[R any](e *Engine, id string) *JobHandle[R] {
	return &JobHandle[R]{ID: id, engine: e}
}

func (h *JobHandle[R]) path() string { return "/v1/jobs/" + segment(h.ID) }

// Get reads the job.
func (h *JobHandle[R]) Get(ctx context.Context) (*Job, error) {
	var job Job
	if err := h.engine.get(ctx, h.path(), &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Status reads the job's status.
func (h *JobHandle[R]) Status(ctx context.Context) (string, error) {
	job, err := h.Get(ctx)
	if err != nil {
		return "", err
	}
	return job.Status, nil
}

func isJobEnded(job *Job) bool {
	return job.Status == "succeeded" || job.Status == "failed" || job.Status == "cancelled"
}

// Wait returns the job when it has ended, whichever process ends it.
func (h *JobHandle[R]) Wait(ctx context.Context) (*Job, error) {
	return waitFor(ctx, h.engine, h.path(), isJobEnded)
}

// Result waits for the job's end and returns its result. The error of a job that failed or was
// cancelled is an EndedError.
func (h *JobHandle[R]) Result(ctx context.Context) (R, error) {
	var result R
	job, err := h.Wait(ctx)
	if err != nil {
		return result, err
	}
	if job.Status != "succeeded" {
		return result, &EndedError{Job: job}
	}
	err = decodePayload(h.engine.config.Codec, job.Result, &result)
	return result, err
}

// Done reports whether the job has ended.
func (h *JobHandle[R]) Done(ctx context.Context) (bool, error) {
	job, err := h.Get(ctx)
	return err == nil && isJobEnded(job), err
}

// Cancel cancels the job at once. ErrWrongState: it has ended.
func (h *JobHandle[R]) Cancel(ctx context.Context) error {
	return h.engine.post(ctx, h.path()+"/cancel", nil, true, nil)
}

// Delete cancels the job if it has not ended, and hides it from lists.
func (h *JobHandle[R]) Delete(ctx context.Context) error {
	return h.engine.do(ctx, request{method: "DELETE", target: h.path(), repeat: true}, nil)
}

// Retry makes a failed or cancelled job pending again, with all its attempts.
func (h *JobHandle[R]) Retry(ctx context.Context) error {
	return h.engine.post(ctx, h.path()+"/retry", nil, true, nil)
}

// Events lists the history of the job, oldest first.
func (h *JobHandle[R]) Events(ctx context.Context) func(yield func(*Event, error) bool) {
	return list[Event](ctx, h.engine, h.path()+"/events", nil, 0)
}
