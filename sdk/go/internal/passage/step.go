package passage

import (
	"encoding/json"
	"fmt"
	"time"
)

// The numbers of cairn_outcome.
const (
	complete = 1
	fail     = 2
	retry    = 3
	dead     = 4
)

func (r *run) BeginStep(o *StepOptions) (*Work, []byte, error) {
	work, output, err, step := r.beginStep(o)
	return work, output, r.tell(err, step)
}

func (r *run) beginStep(o *StepOptions) (*Work, []byte, *Error, string) {
	if err := r.look(); err != nil {
		return nil, nil, err, ""
	}
	if err := r.checkStep(o); err != nil {
		return nil, nil, err, ""
	}
	k, row, seq, err := r.ask(o.Key, "task")
	if err != nil {
		return nil, nil, err, ""
	}
	w := &working{step: o, seq: seq}
	if row != nil {
		w.calls = row.Attempts
		isAnswered, err := r.answerStep(o, k, row)
		if err != nil {
			return nil, nil, err, row.Name
		}
		if isAnswered {
			return nil, orNull(row.Output), nil, ""
		}
	}
	if len(r.working) == 0 {
		if err := r.boundary(); err != nil {
			return nil, nil, err, ""
		}
	}
	if o.Timeout > 0 {
		if w.began, err = r.clock(); err != nil {
			return nil, nil, err, ""
		}
	}
	w.work = &Work{ID: fmt.Sprintf("%s.%d", r.InstanceID, seq), Step: k.text, Key: r.effectKey(k.text), Attempt: w.calls + 1, MaxAttempts: o.Retries + 1}
	w.work.Native = w
	r.working = append(r.working, w)
	return w.work, nil, nil, ""
}

func orNull(text json.RawMessage) []byte {
	if text == nil {
		return []byte("null")
	}
	return text
}

func (r *run) checkStep(o *StepOptions) *Error {
	if err := checkKey(o.Key); err != nil {
		return err
	}
	switch {
	case o.Retries < 0:
		return failed("bad_input", "retries is %d; it must be from 0", o.Retries)
	case o.Base < 0 || o.Max < 0 || o.Timeout < 0:
		return failed("bad_input", "step %q has a negative time", o.Key)
	case !(o.Jitter >= 0 && o.Jitter <= 1):
		return failed("bad_input", "jitter is %g; it must be from 0 to 1", o.Jitter)
	case !knownBackoff(o.Backoff):
		return failed("bad_input", "backoff is %q; it must be fixed, linear, exponential or quadratic", o.Backoff)
	}
	if err := r.checkUndo(o.Key, o.Undo); err != nil {
		return err
	}
	return r.checkJSON(o.Input, "input")
}

// metadataMax is how large metadata may be.
const metadataMax = 8192

func (r *run) checkUndo(key string, undo *CommitCompensation) *Error {
	switch {
	case undo == nil:
		return nil
	case undo.TimeoutMS < 0 || undo.Retry.BaseMS < 0 || undo.Retry.MaxMS < 0:
		return failed("bad_input", "step %q has a negative time", key)
	case undo.MaxAttempts < 0:
		return failed("bad_input", "the compensation's number of calls is %d; it must be from 0", undo.MaxAttempts)
	case !(undo.Retry.Jitter >= 0 && undo.Retry.Jitter <= 1):
		return failed("bad_input", "jitter is %g; it must be from 0 to 1", undo.Retry.Jitter)
	case !knownBackoff(undo.Retry.Backoff):
		return failed("bad_input", "backoff is %q; it must be fixed, linear, exponential or quadratic", undo.Retry.Backoff)
	case len(undo.Handler) > r.MaxName:
		return failed("too_large", "the compensation's type is too long: %d bytes are allowed", r.MaxName)
	case len(undo.Metadata) > metadataMax:
		return failed("too_large", "metadata is too large")
	}
	return nil
}

// answerStep answers a stored step; false: it is to be called, now.
func (r *run) answerStep(o *StepOptions, k *key, row *Step) (bool, *Error) {
	switch {
	case row.Status == "completed":
		return true, nil
	case row.Status == "failed":
		return true, stepFailed(row.Name, row.Error, row.Attempts)
	case row.Attempts > o.Retries: // the code allows fewer calls now than were made
		if err := r.makeRoom(); err != nil {
			return true, err
		}
		text := row.Error
		r.buffer.add(&CommitStep{Seq: row.Seq, Key: k.text, Kind: "task", Status: "failed", Attempts: row.Attempts, MaxAttempts: o.Retries + 1, Error: &text})
		return true, stepFailed(k.text, row.Error, row.Attempts)
	}
	now, err := r.clock()
	if err != nil {
		return true, err
	}
	if row.NextRunAt.After(now) {
		return true, r.end("suspended", "step %q is called again later", row.Name)
	}
	return false, nil
}

func stepFailed(key, text string, calls int32) *Error {
	if text == "" {
		text = "it did not say why"
	}
	return &Error{Code: "step_failed", Message: text, Detail: fmt.Sprintf("step %q, call %d", key, calls)}
}

func (r *run) EndStep(work *Work, end *StepEnd) ([]byte, error) {
	w, ok := work.Native.(*working)
	if !ok || w.ended != nil {
		return nil, failed("bad_input", "this step is not being executed")
	}
	output, err := r.endStep(w, end)
	r.settle()
	if err == nil && r.over != nil && len(r.working) == 0 {
		err = r.over // a log of its code may have heard that it is
	}
	return output, r.tell(err, w.work.Step)
}

// settle buffers steps that have ended, in the order in which they began.
func (r *run) settle() {
	for len(r.working) > 0 && r.working[0].ended != nil {
		r.buffer.add(r.working[0].ended)
		r.working = r.working[1:]
	}
}

// fault is why a call did not complete; "" with true: it did.
func (r *run) fault(end *StepEnd) (text string, isDead, isComplete bool) {
	switch end.Outcome {
	case complete:
		if err := r.checkJSON(end.Output, "output"); err != nil {
			return err.Message + ": " + err.Detail, false, false
		}
		for _, event := range end.Emitted {
			if err := r.checkJSON(event.Payload, "the payload of an event"); err != nil {
				return err.Message, false, false
			}
		}
		return "", false, true
	case fail, retry:
		return end.Error, false, false
	case dead:
		return end.Error, true, false
	}
	return "the code of a function's step cannot wait or be released; it can return Retry", true, false
}

func (r *run) endStep(w *working, end *StepEnd) ([]byte, *Error) {
	text, isDead, isComplete := r.fault(end)
	step := &CommitStep{Seq: w.seq, Key: w.work.Step, Kind: "task", Input: w.step.Input, Attempts: w.calls, MaxAttempts: w.step.Retries + 1, Compensation: w.step.Undo}
	w.ended = step
	r.hasRun = true
	if w.step.Timeout > 0 {
		now, err := r.clock()
		if err != nil {
			step.Status, step.DelayMS = "ready", 0
			return nil, err
		}
		if now.Sub(w.began) > w.step.Timeout {
			text, isDead, isComplete = "TIMEOUT", false, false
		}
	}
	if isComplete {
		step.Status, step.Output, step.Outbound = "completed", end.Output, end.Emitted
		return orNull(end.Output), nil
	}
	step.Attempts, step.Error = w.calls+1, &text
	if isDead || step.Attempts >= step.MaxAttempts {
		step.Status = "failed"
		return nil, stepFailed(w.work.Step, text, step.Attempts)
	}
	delay := w.step.delay(step.Attempts)
	if end.Outcome == retry && end.Delay >= 0 {
		delay = end.Delay
	}
	step.Status, step.DelayMS = "ready", delay.Milliseconds()
	return nil, r.end("suspended", "step %q is called again later", w.work.Step)
}

// ---- starting

func (r *run) StartJob(key string, job *Job) (string, error) {
	id, seq, err := r.rememberStart(key, job.Type, "type", job.Payload, "payload")
	if err != nil || seq == 0 {
		return id, r.tell(err, "")
	}
	started := &CommitJob{ID: id, Seq: seq, Job: job}
	r.buffer.jobs = append(r.buffer.jobs, started)
	r.buffer.bytes += len(job.Payload)
	return r.learn(job.Key, &started.ID)
}

func (r *run) StartWorkflow(key string, start *Start) (string, error) {
	id, seq, err := r.rememberStart(key, start.Workflow, "workflow", start.Input, "input")
	if err != nil || seq == 0 {
		return id, r.tell(err, "")
	}
	started := &CommitInstance{ID: id, Seq: seq, Start: start}
	r.buffer.instances = append(r.buffer.instances, started)
	r.buffer.bytes += len(start.Input)
	return r.learn(start.Key, &started.ID)
}

// learn tells the id. With a key it may be another one than was made: the commit says which.
func (r *run) learn(key string, id *string) (string, error) {
	if key == "" {
		return *id, nil
	}
	err := r.flush()
	return *id, r.tell(err, "")
}

// rememberStart stores that something is started. A seq of 0: it was started before.
func (r *run) rememberStart(text, name, what string, input json.RawMessage, part string) (id string, seq int32, err *Error) {
	if err := r.enter(); err != nil {
		return "", 0, err
	}
	if name == "" {
		return "", 0, failed("bad_input", "%s is empty", what)
	}
	if err := r.checkJSON(input, part); err != nil {
		return "", 0, err
	}
	if err := checkKey(text); err != nil {
		return "", 0, err
	}
	k, row, seq, err := r.ask(text, "start")
	if err != nil {
		return "", 0, err
	}
	if row != nil {
		id, err = answerStart(row)
		return id, 0, err
	}
	if err := r.makeRoom(); err != nil {
		return "", 0, err
	}
	now, err := r.clock()
	if err != nil {
		return "", 0, err
	}
	id = r.exchange.NewID(now)
	r.buffer.add(&CommitStep{Seq: seq, Key: k.text, Kind: "start", Status: "completed", Output: json.RawMessage(`{"id":"` + id + `"}`)})
	return id, seq, nil
}

func answerStart(row *Step) (string, *Error) {
	if row.Status != "completed" {
		return "", stepFailed(row.Name, row.Error, 1)
	}
	var said struct{ ID string }
	if json.Unmarshal(row.Output, &said) != nil || said.ID == "" {
		return "", failed("bad_json", "what is remembered as %q has no id", row.Name)
	}
	return said.ID, nil
}

// Call is two steps: KEY starts a child, and KEY:end waits for the signal that tells of its end.
func (r *run) Call(key string, start *Start, timeout time.Duration) ([]byte, error) {
	if start.Key != "" {
		return nil, r.tell(failed("bad_input", "an instance that is called has no key"), "")
	}
	id, seq, err := r.rememberStart(key, start.Workflow, "workflow", start.Input, "input")
	if err != nil {
		return nil, r.tell(err, "")
	}
	event := "call:" + id
	if seq > 0 {
		child := *start
		child.TellInstance, child.TellEvent = r.InstanceID, event
		r.buffer.instances = append(r.buffer.instances, &CommitInstance{ID: id, Seq: seq, Start: &child})
		r.buffer.bytes += len(start.Input)
	}
	payload, err := r.waitEvent(key+":end", event, timeout)
	if err != nil {
		return nil, r.tell(err, "")
	}
	var end struct {
		Status    string          `json:"status"`
		Output    json.RawMessage `json:"output"`
		LastError *struct {
			Message string `json:"message"`
		} `json:"last_error"`
	}
	if json.Unmarshal(payload, &end) != nil {
		return nil, r.tell(failed("bad_json", "the end of %q is not JSON", key), "")
	}
	switch {
	case end.Status == "completed":
		return orNull(end.Output), nil
	case end.Status == "failed" && end.LastError != nil:
		return nil, r.tell(stepFailed(key, end.LastError.Message, 1), key)
	}
	return nil, r.tell(stepFailed(key, end.Status, 1), key)
}

// ---- logs

func (r *run) Log(level, message string, data []byte) error {
	if r.over != nil {
		return r.tell(r.over, "")
	}
	if err := r.checkJSON(data, "data"); err != nil {
		return r.tell(err, "")
	}
	log := &CommitLog{Level: level, Message: message, Data: data}
	for _, w := range r.working {
		if w.ended == nil {
			log.Step, log.Attempt = w.work.Step, w.work.Attempt
			break
		}
	}
	if log.Step == "" && !r.isPassed() {
		return nil // an earlier run has stored it
	}
	if len(r.working) == 0 {
		if err := r.makeRoom(); err != nil {
			return r.tell(err, "")
		}
	}
	r.buffer.logs = append(r.buffer.logs, log)
	r.buffer.bytes += len(message) + len(data)
	return nil
}

// isPassed reports whether the code has left behind what earlier runs have done.
func (r *run) isPassed() bool {
	return r.hasNew || r.frontier == nil || r.frontier.isVisited
}
