package passage

import (
	"encoding/json"
	"fmt"
	"time"
)

// Commit is what a run says to the engine, as POST /v1/tasks/{id}/commit takes it.
type Commit struct {
	Revision   int64             `json:"revision"`
	Outcome    string            `json:"outcome"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Error      *string           `json:"error,omitempty"`
	FailedStep string            `json:"failed_step,omitempty"`
	ExtendMS   int64             `json:"extend_ms,omitempty"`
	Steps      []*CommitStep     `json:"steps,omitempty"`
	Logs       []*CommitLog      `json:"logs,omitempty"`
	Jobs       []*CommitJob      `json:"jobs,omitempty"`
	Instances  []*CommitInstance `json:"instances,omitempty"`
}

// CommitStep is a step that is stored or changed.
type CommitStep struct {
	Seq          int32               `json:"seq"`
	Key          string              `json:"key"`
	Kind         string              `json:"kind"`
	Status       string              `json:"status"`
	Input        json.RawMessage     `json:"input,omitempty"`
	Output       json.RawMessage     `json:"output,omitempty"`
	Error        *string             `json:"error,omitempty"`
	Attempts     int32               `json:"attempts,omitempty"`
	MaxAttempts  int32               `json:"max_attempts,omitempty"`
	DelayMS      int64               `json:"delay_ms,omitempty"`
	Until        *time.Time          `json:"until,omitempty"`
	Event        string              `json:"event,omitempty"`
	TimeoutMS    *int64              `json:"timeout_ms,omitempty"`
	SignalID     string              `json:"signal_id,omitempty"`
	Compensation *CommitCompensation `json:"compensation,omitempty"`
	Outbound     []Outbound          `json:"outbound,omitempty"`
}

// CommitCompensation is how a step is undone.
type CommitCompensation struct {
	Handler     string          `json:"handler"`
	MaxAttempts int32           `json:"max_attempts"`
	Retry       CommitRetry     `json:"retry"`
	TimeoutMS   int64           `json:"timeout_ms"`
	Idempotent  bool            `json:"idempotent"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// CommitRetry is how long to wait before a compensation is called again.
type CommitRetry struct {
	Backoff string  `json:"backoff"`
	BaseMS  int64   `json:"base_ms"`
	MaxMS   int64   `json:"max_ms"`
	Jitter  float64 `json:"jitter"`
}

// CommitLog is a line of the function's log.
type CommitLog struct {
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
	Step    string          `json:"step,omitempty"`
	Attempt int32           `json:"attempt,omitempty"`
}

// CommitJob is a job that is recorded with the commit.
type CommitJob struct {
	ID  string `json:"id"`
	Seq int32  `json:"seq"`
	*Job
}

// CommitInstance is an instance that is started with the commit.
type CommitInstance struct {
	ID  string `json:"id"`
	Seq int32  `json:"seq"`
	*Start
}

// Committed is the engine's answer.
type Committed struct {
	Status     string      `json:"status"`
	Stop       string      `json:"stop"`
	LeaseUntil *time.Time  `json:"lease_until"`
	Revision   int64       `json:"revision"`
	Conflict   bool        `json:"conflict"`
	Events     []*Received `json:"events"`
	Started    []struct {
		ID string `json:"id"`
	} `json:"started"`
}

// A buffer beyond any of these is committed at once.
const (
	bufferSteps = 500
	bufferLogs  = 500
	bufferBytes = 1 << 20
)

// buffer is what is written with the next commit.
type buffer struct {
	steps     []*CommitStep
	logs      []*CommitLog
	settled   int // logs before a buffered step: they are not repeated once it is stored
	jobs      []*CommitJob
	instances []*CommitInstance
	bytes     int
}

func (b *buffer) add(step *CommitStep) {
	b.steps = append(b.steps, step)
	b.settled = len(b.logs)
	b.bytes += len(step.Key) + len(step.Input) + len(step.Output)
}

func (b *buffer) isFull() bool {
	return len(b.steps) >= bufferSteps || len(b.logs) >= bufferLogs || b.bytes >= bufferBytes
}

func (b *buffer) clear(logsSent int) {
	*b = buffer{logs: b.logs[logsSent:]}
	for _, log := range b.logs {
		b.bytes += len(log.Message) + len(log.Data)
	}
}

// tryCommit sends the buffer, without what it starts if that was refused.
func (r *run) tryCommit(c *Commit, withSteps bool) error {
	logs := 0
	if withSteps {
		logs = len(r.buffer.logs)
		goesOn := c.Outcome == "go_on" || c.Outcome == "suspend" || c.Outcome == "again"
		if goesOn && r.stop != "cancelled" && !r.buffer.isFull() {
			logs = r.buffer.settled
		}
		c.Steps, c.Logs, c.Jobs, c.Instances = r.buffer.steps, r.buffer.logs[:logs], r.buffer.jobs, r.buffer.instances
	}
	c.Revision = r.revision
	if c.Outcome == "go_on" {
		c.ExtendMS = milliseconds(r.Lease)
	}
	answer, err := r.exchange.Commit(c)
	if err != nil {
		return err
	}
	r.revision, r.stop, r.status = answer.Revision, answer.Stop, answer.Status
	r.isReleased = answer.LeaseUntil == nil
	r.extendedAt, r.hasRun = time.Now(), false
	r.learnIDs(c, answer)
	r.buffer.clear(logs)
	if answer.Conflict {
		r.events = answer.Events
	}
	return nil
}

// learnIDs: what was started with a known key is another one than was asked for.
func (r *run) learnIDs(c *Commit, answer *Committed) {
	for i, started := range answer.Started {
		if i < len(c.Jobs) {
			c.Jobs[i].ID = started.ID
		} else if i-len(c.Jobs) < len(c.Instances) {
			c.Instances[i-len(c.Jobs)].ID = started.ID
		}
	}
}

// isRefusal: something in it cannot be committed, now or later.
func isRefusal(e *Error) bool {
	switch e.Code {
	case "not_found", "bad_input", "too_large", "conflict", "bad_json":
		return true
	}
	return false
}

// commit sends the buffer. If it is refused, the function has failed and says why; each step that
// was executed is stored as far as that is possible, or it would never be undone.
func (r *run) commit(c *Commit) *Error {
	err := r.tryCommit(c, true)
	if err == nil {
		return nil
	}
	why := asError(err)
	if !isRefusal(why) {
		return r.end(why.Code, "%s", why.Message)
	}
	text := "the commit was refused: " + why.Message
	if why.Detail != "" {
		text += ": " + why.Detail
	}
	r.dropStarts(text)
	fail := func() *Commit { return &Commit{Outcome: "fail", Error: &text} }
	if err := r.tryCommit(fail(), true); err != nil && isRefusal(asError(err)) {
		r.saveSteps(text)
		if !r.isReleased {
			_ = r.tryCommit(fail(), false)
		}
	}
	return r.end(why.Code, "%s", why.Message)
}

// dropStarts: nothing is started; the steps that say so say why.
func (r *run) dropStarts(why string) {
	r.buffer.jobs, r.buffer.instances = nil, nil
	for _, step := range r.buffer.steps {
		if step.Kind == "start" && step.Status == "completed" {
			step.Status, step.Output, step.Error = "failed", nil, &why
		}
	}
}

// saveSteps commits each step alone; what cannot be stored as it is counts as failed.
func (r *run) saveSteps(why string) {
	steps := r.buffer.steps
	for _, step := range steps {
		if step.Status == "waiting" || r.isReleased {
			continue
		}
		for tries := 0; tries < 3; tries++ {
			r.buffer.steps, r.buffer.settled = []*CommitStep{step}, 0
			err := r.tryCommit(&Commit{Outcome: "go_on"}, true)
			if err == nil {
				break
			}
			if !isRefusal(asError(err)) {
				return
			}
			step.Status, step.Output, step.Error, step.Outbound = "failed", nil, &why, nil
			if tries == 1 {
				step.Input = nil
			}
		}
	}
	r.buffer.steps = nil
}

func (r *run) flush() *Error {
	if err := r.commit(&Commit{Outcome: "go_on"}); err != nil {
		return err
	}
	if err := r.look(); err != nil {
		return err
	}
	if r.isReleased {
		return r.end("lease_lost", "the lease has ended")
	}
	return nil
}

// makeRoom is called before something is buffered that suspends nothing.
func (r *run) makeRoom() *Error {
	if r.buffer.isFull() {
		return r.flush()
	}
	return nil
}

// boundary is right before a step's code is executed.
func (r *run) boundary() *Error {
	if r.buffer.isFull() || !r.ByPassage && len(r.buffer.steps) > 0 {
		return r.flush()
	}
	if !r.hasRun {
		return nil
	}
	extend := time.Duration(0)
	if time.Since(r.extendedAt) >= r.Lease/3 {
		extend = r.Lease
	}
	stop, err := r.exchange.Heartbeat(extend)
	if err != nil {
		return r.giveUp(err)
	}
	r.stop, r.hasRun = stop, false
	if extend > 0 {
		r.extendedAt = time.Now()
	}
	return r.look()
}

// ---- the end

func (r *run) SetOutput(output []byte) error {
	if err := r.checkJSON(output, "output"); err != nil {
		return err
	}
	r.output = output
	return nil
}

func (r *run) SetError(text string) { r.err = text }

func (r *run) End(code string) (string, error) {
	code = r.checkReturned(code)
	r.settleAll()
	var err *Error
	if !r.isReleased {
		if r.over == nil {
			err = r.commitEnd(code)
		} else {
			err = r.endEarly()
		}
	}
	if r.isReleased {
		err = nil
	}
	if err != nil {
		return "", err
	}
	return r.status, nil
}

// checkReturned: a function that ends well beside the code of one of its steps has failed, since it does
// not wait for what it has asked for.
func (r *run) checkReturned(code string) string {
	for _, w := range r.working {
		if w.ended == nil && code == "" {
			r.err = fmt.Sprintf("the function ended while step %q was being executed", w.work.Step)
			return "wrong_state"
		}
	}
	return code
}

// settleAll buffers what has ended, behind what began before it, which will be called again.
func (r *run) settleAll() {
	last := 0
	for i, w := range r.working {
		if w.ended != nil {
			last = i + 1
		}
	}
	for _, w := range r.working[:last] {
		if w.ended == nil {
			why := "its call was not ended"
			w.ended = &CommitStep{Seq: w.seq, Key: w.work.Step, Kind: "task", Status: "ready", Input: w.step.Input, Error: &why,
				Attempts: w.calls, MaxAttempts: w.step.Retries + 1, Compensation: w.step.Undo}
		}
		r.buffer.add(w.ended)
	}
	r.working = nil
}

func (r *run) commitEnd(code string) *Error {
	if code == "" {
		if r.checkComplete() != nil {
			return r.endEarly()
		}
		return r.commit(&Commit{Outcome: "complete", Output: r.output})
	}
	text, step := r.tellFailure(code)
	return r.commit(&Commit{Outcome: "fail", Error: &text, FailedStep: step})
}

// tellFailure is why the function failed: what it said itself, else what the call said that it
// passed on.
func (r *run) tellFailure(code string) (text, step string) {
	switch {
	case r.err != "":
		return r.err, ""
	case code == "suspended":
		return "the function returned suspended, but nothing suspends it", ""
	case r.failure != nil && r.failure.Code == code:
		return r.failure.Message, r.failureStep
	}
	return code, ""
}

func (r *run) checkComplete() *Error {
	if r.unvisited == 0 || r.Memory.Forced || r.hasGaps {
		return nil
	}
	row := r.firstUnvisited()
	more := ""
	if r.unvisited > 1 {
		more = fmt.Sprintf(", nor for %d more", r.unvisited-1)
	}
	r.overStep = row.Name
	return r.end("version_mismatch", "remembered is the %s %q, but the code has completed without asking for it%s", kindWord(row.Kind), row.Name, more)
}

// endEarly tells the engine what has suspended the run, or does not match; all else has ended it.
func (r *run) endEarly() *Error {
	over := r.over
	end := &Commit{Outcome: "suspend"}
	if r.isCutShort {
		end.Outcome = "again"
	}
	switch over.Code {
	case "version_mismatch":
		text := "version_mismatch: " + over.Message
		end = &Commit{Outcome: "mismatch", Error: &text, FailedStep: r.overStep}
	case "suspended":
		if r.stop == "" {
			r.forgetRetries()
		}
	case "lease_lost":
		if r.stop != "" && r.stop != "lease_lost" { // refused, which ends the lease
			_ = r.tryCommit(&Commit{Outcome: "suspend"}, false)
		}
		return over
	default:
		return over
	}
	r.over = nil // it has done its part: what counts now is the commit
	return r.commit(end)
}

// forgetRetries: a call that was to be repeated, and that the code has not asked for before it
// suspends, would make the next run begin at once, for ever.
func (r *run) forgetRetries() {
	if !r.Memory.Forced && !r.hasGaps {
		return
	}
	for _, row := range r.Memory.Steps {
		if k := r.keys[row.Name]; k.row != nil && !k.isVisited && k.row.Status == "ready" {
			r.forget(k)
		}
	}
}
