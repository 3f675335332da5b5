package cairn

//go:generate go run ./internal/errgen ../../spec/errors.txt errors_gen.go

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a failure that the engine or the SDK reports. errors.Is compares codes, so
// errors.Is(err, ErrNotFound) holds for every error with the code "not_found".
type Error struct {
	Code       string // a word of the error list, such as "lease_lost"
	Message    string // what went wrong, in one line
	Detail     string // more facts; may be empty
	Hint       string // what to do about it; may be empty
	HTTPStatus int    // the status that a server sends it with
}

// Error returns the message, then detail and hint on lines of their own if there are any.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = e.Code
	}
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

// Is reports whether target is an Error with the same code.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Code == e.Code
}

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	switch e.Code {
	case "busy", "unreachable", "too_many", "store_full", "closed":
		return true
	}
	return false
}

// Errors of the SDK itself.
var (
	// ErrUnsupported: this build or this version of the engine cannot do it.
	ErrUnsupported = sentinel("unsupported", 501, "this is not supported")
	// ErrMisuse: the program uses the SDK in a way that cannot work.
	ErrMisuse = sentinel("misuse", 500, "the SDK is used in a way that cannot work")
	// ErrBadPayload: a value cannot be encoded, or a JSON text does not fit its Go type.
	ErrBadPayload = sentinel("bad_payload", 400, "the payload does not fit its type")
	// ErrFailed is what an EndedError of a failed job or instance is.
	ErrFailed = errors.New("failed")
	// ErrCancelled is what an EndedError of a cancelled job or instance is.
	ErrCancelled = errors.New("cancelled")
	// ErrAborted is what an EndedError of an aborted instance is.
	ErrAborted = errors.New("aborted")
)

func sentinel(code string, status int, message string) error {
	return &Error{Code: code, HTTPStatus: status, Message: message}
}

// newError is an error like the sentinel, with a message of its own.
func newError(like error, format string, args ...any) *Error {
	e := *like.(*Error)
	e.Message = fmt.Sprintf(format, args...)
	return &e
}

// errorOfCode is the error of an answer with this code; a code that is not known stays as it is.
func errorOfCode(code, message, detail, hint string, status int) *Error {
	if known := codes[code]; known != nil {
		status = known.HTTPStatus
		if message == "" {
			message = known.Message
		}
	}
	return &Error{Code: code, Message: message, Detail: detail, Hint: hint, HTTPStatus: status}
}

// isCode reports whether err is an Error with one of these codes.
func isCode(err error, sentinels ...error) bool {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

func isRetryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable()
}

// EndedError is the answer of Result if the job or instance has not ended well. Is it
// failed, cancelled or aborted? errors.Is with ErrFailed, ErrCancelled and ErrAborted tells.
type EndedError struct {
	Job      *Job // one of the two is set
	Instance *Instance
}

func (e *EndedError) Error() string {
	if e.Job != nil {
		return withReason(fmt.Sprintf("job %s has ended as %s", e.Job.ID, e.Job.Status), e.Job.LastError)
	}
	reason := ""
	if e.Instance.LastError != nil {
		reason = e.Instance.LastError.Message
	}
	return withReason(fmt.Sprintf("instance %s of %s has ended as %s", e.Instance.ID, e.Instance.Workflow, e.Instance.Status), reason)
}

func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// Is reports whether target is ErrFailed, ErrCancelled or ErrAborted and the status is that.
func (e *EndedError) Is(target error) bool {
	status := ""
	if e.Job != nil {
		status = e.Job.Status
	} else if e.Instance != nil {
		status = e.Instance.Status
	}
	return target == ErrFailed && status == "failed" || target == ErrCancelled && status == "cancelled" ||
		target == ErrAborted && status == "aborted"
}

// StepFailedError is the answer of Step if no call of the step is left.
type StepFailedError struct {
	Key, Message string
	Attempts     int32
	Err          error // what the step returned, if it was called in this run
}

func (e *StepFailedError) Error() string {
	return fmt.Sprintf("step %q failed: %s", e.Key, e.Message)
}

// Unwrap returns what the step returned, if it was called in this run.
func (e *StepFailedError) Unwrap() error { return e.Err }

// Is reports whether target is ErrStepFailed.
func (e *StepFailedError) Is(target error) bool { return target == ErrStepFailed }

// StoppedError is the cause of a handler's context that has ended (context.Cause). The
// reason is "cancelled", "aborted", "rollback", "superseded", "lease_lost", "timeout" or "shutdown".
type StoppedError struct{ Reason string }

func (e *StoppedError) Error() string { return "stopped: " + e.Reason }

// Must returns v, and panics if err is not nil. It is for main functions and examples.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check panics if err is not nil. It is for main functions and examples.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
