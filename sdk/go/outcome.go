package cairn

import (
	"errors"
	"fmt"
	"time"
)

// outcomeError is what a handler returns to end its task in another way than with a result or a
// failed attempt. errors.As finds it in wrapped errors.
type outcomeError struct {
	outcome outcome
	err     error
	delay   time.Duration
	event   string
	timeout time.Duration
}

func (e *outcomeError) Error() string {
	switch {
	case e.err != nil:
		return e.err.Error()
	case e.outcome == outcomeWait:
		return fmt.Sprintf("waits for the event %q", e.event)
	}
	return outcomeWords[e.outcome]
}

func (e *outcomeError) Unwrap() error { return e.err }

// Retry makes a failed attempt that is repeated after a delay, while attempts are left.
// after < 0: the task's own backoff.
func Retry(err error, after time.Duration) error {
	return &outcomeError{outcome: outcomeRetry, err: err, delay: after}
}

// Dead makes the task fail for good, even if attempts are left.
func Dead(err error) error { return &outcomeError{outcome: outcomeDead, err: err} }

// Release gives the task back without using an attempt; it can be claimed again after a delay.
func Release(after time.Duration) error {
	return &outcomeError{outcome: outcomeRelease, delay: max(after, 0)}
}

// WaitFor ends the call of a step's handler, which is called again when the event arrives or
// the timeout is over. timeout 0: without end. It is for steps only.
func WaitFor(event string, timeout time.Duration) error {
	return &outcomeError{outcome: outcomeWait, event: event, timeout: timeout}
}

// resultOf is what is reported for the end of a handler's call.
func resultOf(l *leased, output []byte, err error, emitted []emitted) *result {
	r := &result{task: l, outcome: outcomeComplete, output: output, emitted: emitted, delay: -1}
	if err == nil {
		return r
	}
	var asked *outcomeError
	r.output, r.emitted = nil, nil
	r.outcome, r.err = outcomeFail, err.Error()
	if !errors.As(err, &asked) {
		return r
	}
	r.outcome, r.delay = asked.outcome, asked.delay
	if asked.outcome == outcomeWait {
		if l.task.Kind != "step" {
			r.outcome, r.err = outcomeFail, "Misuse: only the handler of a step can wait for an event"
			return r
		}
		r.event, r.timeout, r.emitted = asked.event, asked.timeout, emitted
	}
	return r
}
