package cairn

import (
	"context"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// A transport connects the package with an engine: capi_cgo.go with libcairn, capi_http.go with
// a server. All of its calls may be made concurrently.
type transport interface {
	url() string

	// call makes one request of the HTTP interface. Only reads look at the context.
	call(ctx context.Context, r request) (status int, answer []byte, err error)

	// Tasks. A claim ends early, and empty, after wake.
	claim(ctx context.Context, c *claim) ([]*leased, error)
	report(ctx context.Context, worker string, results []*result, c *claim) ([]*leased, error)

	// openPassage begins a run of a function; the task is of the kind "function".
	openPassage(worker string, task *leased, byPassage bool, lease time.Duration) (passage.Passage, error)

	wake(worker string) // "": every call that waits
	canWake() bool      // false: a claim must not wait long
	notices() []notice  // what the engine wants an operator to know
	close()             // when no call is under way
}

type request struct {
	method, target string
	body           []byte
	isRead         bool          // given up when the context ends
	repeat         bool          // may be sent again if its answer was lost
	wait           time.Duration // how long the engine may take on purpose
}

// A claim says what a worker wants.
type claim struct {
	worker    string
	types     []string
	functions []functionCode
	runtime   string
	max       int
	lease     time.Duration
	wait      time.Duration
}

// functionCode is a function that a worker has code for.
type functionCode struct {
	Name        string `json:"name"`
	Version     int32  `json:"version"`
	FromVersion int32  `json:"from_version,omitempty"`
}

// A leased task is what a claim gives.
type leased struct {
	task  Task
	token string

	extendedAt time.Time // the lease, by our clock; the worker's lock guards both
	lookAt     time.Time // when it is asked next whether it is still wanted

	version int32      // of the function with which the instance was started
	native  nativeTask // what a run of a function needs, with cgo and without
}

type outcome int

// The outcomes of tasks; their numbers are those of cairn_outcome.
const (
	outcomeComplete outcome = iota + 1
	outcomeFail
	outcomeRetry
	outcomeDead
	outcomeRelease
	outcomeWait
)

var outcomeWords = [...]string{"", "complete", "fail", "retry", "dead", "release", "wait"}

// A result is how a task ended, and what the engine said to it.
type result struct {
	task      *leased
	outcome   outcome
	output    []byte // JSON; nil: null
	err       string
	delay     time.Duration // of retry and release; < 0: the task's own backoff, or at once
	event     string        // of wait
	timeout   time.Duration // of wait; <= 0: without limit
	emitted   []emitted
	isMissing bool // of release: this worker has no handler for it

	refused *Error // nil: accepted
	isAlone bool   // it was refused together with others, and goes by itself
}

type emitted struct {
	event   string
	payload []byte
}

// A beat extends a lease, or with extend 0 only asks whether the task is still wanted.
type beat struct {
	task   *leased
	extend time.Duration

	refused    *Error
	leaseUntil time.Time
	stop       string
}
