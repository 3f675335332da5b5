package passage

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"
)

// Exchange is how a run meets the engine. Its errors are *Error.
type Exchange interface {
	Commit(c *Commit) (*Committed, error)
	Heartbeat(extend time.Duration) (stop string, err error)
	Now() (time.Time, error)
	NewID(now time.Time) string
}

// Options describe a run.
type Options struct {
	InstanceID          string
	Memory              *Memory
	ByPassage           bool // all steps of a run in one commit
	Lease               time.Duration
	MaxName, MaxPayload int
}

// stepsMax is how many steps a function may have.
const stepsMax = 10000

// run is a Passage with the rules in Go. Once a call has ended it, it is over: every later call
// answers the same error and does nothing, and so does the end, whatever the function returns.
type run struct {
	Options
	exchange Exchange

	keys      map[string]*key
	unvisited int
	hasGaps   bool // rows were deleted by a retry: the code may take another way
	hasNew    bool
	frontier  *key // the one stored last
	places    int32
	revision  int64

	events []*Received
	taken  map[string]bool

	buffer  buffer
	working []*working // steps whose code is being executed, in the order in which they began

	stop       string
	extendedAt time.Time
	hasRun     bool // a step's code, since the engine was last spoken to
	isCutShort bool
	isReleased bool // the lease has ended: nothing more is sent
	status     string

	over     *Error
	overStep string

	failure     *Error // of the latest call that failed, should the function return it
	failureStep string

	output []byte
	err    string
}

// key is a key of a step, and what is stored under it.
type key struct {
	text      string
	uses      int
	row       *Step
	isVisited bool
}

// working is a step whose code is being executed, or has ended while one before it has not.
type working struct {
	work  *Work
	step  *StepOptions
	seq   int32
	calls int32 // that failed before this one
	began time.Time
	ended *CommitStep
}

// New begins a run.
func New(o Options, exchange Exchange) Passage {
	r := &run{Options: o, exchange: exchange, keys: map[string]*key{}, taken: map[string]bool{}, extendedAt: time.Now(),
		revision: o.Memory.Revision, places: max(o.Memory.Places, 1), events: o.Memory.Events}
	r.hasGaps = int(r.places-1) > len(o.Memory.Steps)
	for _, row := range o.Memory.Steps {
		k := r.obtain(row.Name)
		k.row = row
		if r.frontier == nil || row.Seq >= r.frontier.row.Seq {
			r.frontier = k
		}
		r.places = max(r.places, row.Seq+1)
		r.unvisited++
	}
	return r
}

func failed(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// end makes the run over; the first reason stands.
func (r *run) end(code, format string, args ...any) *Error {
	if r.over == nil {
		r.over = failed(code, format, args...)
	}
	return r.over
}

// tell is what every call ends with: it keeps the error, should the function return it.
func (r *run) tell(err *Error, step string) error {
	if err == nil {
		return nil
	}
	r.failure, r.failureStep = err, step
	return err
}

// look ends a run that was stopped. Pausing and cancelling take what has finished.
func (r *run) look() *Error {
	if r.over != nil || r.stop == "" {
		return r.over
	}
	r.isCutShort = true
	if r.stop == "paused" || r.stop == "cancelled" {
		return r.end("suspended", "the instance is %s", r.stop)
	}
	return r.end("lease_lost", "the run is not wanted any more: %s", r.stop)
}

// enter is what every call begins with.
func (r *run) enter() *Error {
	if len(r.working) > 0 {
		return failed("wrong_state", "step %q is being executed; its code cannot ask for another one", r.working[0].step.Key)
	}
	return r.look()
}

// ---- keys

func (r *run) obtain(text string) *key {
	k := r.keys[text]
	if k == nil {
		k = &key{text: text}
		r.keys[text] = k
	}
	return k
}

// nextUse: the second use of "mail" is "mail#2".
func (r *run) nextUse(text string) *key {
	first := r.obtain(text)
	if first.uses++; first.uses == 1 {
		return first
	}
	return r.obtain(fmt.Sprintf("%s#%d", text, first.uses))
}

func checkKey(text string) *Error {
	switch {
	case text == "":
		return failed("bad_input", "key is empty")
	case strings.Contains(text, "#"):
		return failed("bad_input", "key %q has a '#', which numbers the uses of a key", text)
	case isReserved(text):
		return failed("bad_input", "key %q ends in '~' and a number, which tells the effects of a step apart", text)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return failed("bad_input", "key is not UTF-8")
	}
	return nil
}

func isReserved(text string) bool {
	digits := text[strings.LastIndexByte(text, '~')+1:]
	return len(digits) < len(text) && digits != "" && strings.Trim(digits, "0123456789") == ""
}

func (r *run) checkJSON(text []byte, what string) *Error {
	if len(text) > r.MaxPayload {
		e := failed("too_large", "%s is too large", what)
		e.Detail = fmt.Sprintf("%d bytes, %d are allowed", len(text), r.MaxPayload)
		return e
	}
	if text != nil && !json.Valid(text) {
		return failed("bad_json", "%s is not JSON", what)
	}
	return nil
}

func kindWord(kind string) string {
	switch kind {
	case "task":
		return "step"
	case "value":
		return "remembered value"
	}
	return kind
}

func (r *run) firstUnvisited() *Step {
	for _, row := range r.Memory.Steps {
		if !r.keys[row.Name].isVisited {
			return row
		}
	}
	return nil
}

func (r *run) mismatch(row *Step, key, kind string) *Error {
	r.overStep = row.Name
	return r.end("version_mismatch", "remembered is the %s %q, but the code asks for the %s %q", kindWord(row.Kind), row.Name, kindWord(kind), key)
}

// forget takes a row out of the history; its key is stored anew.
func (r *run) forget(k *key) {
	row := k.row
	k.row = nil
	r.buffer.add(&CommitStep{Seq: row.Seq, Key: k.text, Kind: row.Kind, Status: "forgotten"})
}

// ask finds what is stored under the next use of a key. A row of nil is new, and goes to seq.
func (r *run) ask(text, kind string) (k *key, row *Step, seq int32, err *Error) {
	forced := r.Memory.Forced
	k = r.nextUse(text)
	if len(k.text) > r.MaxName {
		e := failed("too_large", "key %q is too long", k.text[:60]+"...")
		e.Detail = fmt.Sprintf("%d bytes, %d are allowed", len(k.text), r.MaxName)
		return nil, nil, 0, e
	}
	isMatch := k.row != nil && k.row.Kind == kind
	if k.row != nil && !isMatch && !forced {
		return nil, nil, 0, r.mismatch(k.row, k.text, kind)
	}
	if k.row == nil && r.unvisited > 0 && !forced && !r.hasGaps {
		return nil, nil, 0, r.mismatch(r.firstUnvisited(), k.text, kind)
	}
	if !isMatch && r.places > stepsMax {
		return nil, nil, 0, failed("too_large", "the function has too many steps")
	}
	if k.row != nil && !k.isVisited {
		r.unvisited--
	}
	k.isVisited = true
	if k.row != nil && !isMatch {
		r.forget(k)
	}
	if k.row != nil {
		return k, k.row, k.row.Seq, nil
	}
	r.hasNew = true
	r.places++
	return k, nil, r.places - 1, nil
}

// effect is the number of the effect that a step is called for.
func (r *run) effect(key string) int32 {
	for _, e := range r.Memory.Effects {
		if e.Step == key {
			return e.Effect
		}
	}
	return r.Memory.Effect
}

func (r *run) effectKey(key string) string {
	if n := r.effect(key); n > 1 {
		return fmt.Sprintf("%s:%s~%d", r.InstanceID, key, n)
	}
	return r.InstanceID + ":" + key
}

// ---- values

// value is made once and then stored.
func (r *run) value(name string, make func() (any, *Error), into any) error {
	err := func() *Error {
		if err := r.enter(); err != nil {
			return err
		}
		k, row, seq, err := r.ask(name, "value")
		if err != nil {
			return err
		}
		var text []byte
		if row != nil {
			text = row.Output
		} else {
			made, err := make()
			if err != nil {
				return err
			}
			if err := r.makeRoom(); err != nil {
				return err
			}
			text, _ = json.Marshal(made)
			r.buffer.add(&CommitStep{Seq: seq, Key: k.text, Kind: "value", Status: "completed", Output: text})
		}
		if json.Unmarshal(text, into) != nil {
			return failed("bad_json", "what is remembered as %q is no such value: %s", k.text, text)
		}
		return nil
	}()
	return r.tell(err, "")
}

func (r *run) clock() (time.Time, *Error) {
	now, err := r.exchange.Now()
	if err != nil {
		return now, r.giveUp(err)
	}
	return now, nil
}

// giveUp: what the engine has waited for by itself is waited for no longer; the lease will end,
// and another run begins.
func (r *run) giveUp(err error) *Error {
	known := asError(err)
	return r.end(known.Code, "%s", known.Message)
}

func asError(err error) *Error {
	if known, ok := err.(*Error); ok {
		return known
	}
	return failed("internal", "%v", err)
}

// Now is a time, in microseconds since 1970 as other languages store it.
func (r *run) Now() (time.Time, error) {
	var us int64
	err := r.value("now", func() (any, *Error) {
		now, err := r.clock()
		return now.UnixMicro(), err
	}, &us)
	return time.UnixMicro(us).UTC(), err
}

func (r *run) Random() (float64, error) {
	var value float64
	err := r.value("random", func() (any, *Error) { return rand.Float64(), nil }, &value)
	return value, err
}

func (r *run) UUID() (string, error) {
	var id string
	err := r.value("uuid", func() (any, *Error) {
		now, err := r.clock()
		return r.exchange.NewID(now), err
	}, &id)
	return id, err
}

// ---- sleeping and waiting

func (r *run) Sleep(key string, d time.Duration) error {
	return r.tell(r.sleep(key, max(d, 0), time.Time{}), "")
}

func (r *run) SleepUntil(key string, at time.Time) error { return r.tell(r.sleep(key, 0, at), "") }

func (r *run) sleep(text string, d time.Duration, until time.Time) *Error {
	if err := r.enter(); err != nil {
		return err
	}
	if err := checkKey(text); err != nil {
		return err
	}
	k, row, seq, err := r.ask(text, "sleep")
	if err != nil {
		return err
	}
	if row != nil {
		if row.Status == "waiting" {
			return r.end("suspended", "%q sleeps", row.Name)
		}
		return nil
	}
	isPast := until.IsZero() && d == 0
	if !until.IsZero() {
		now, err := r.clock()
		if err != nil {
			return err
		}
		isPast = !until.After(now)
	}
	step := &CommitStep{Seq: seq, Key: k.text, Kind: "sleep", Status: "waiting", DelayMS: milliseconds(d)}
	if !until.IsZero() {
		utc := until.UTC()
		step.Until = &utc
	}
	if isPast {
		if err := r.makeRoom(); err != nil {
			return err
		}
		step.Status = "completed"
	}
	r.buffer.add(step)
	if isPast {
		return nil
	}
	return r.end("suspended", "%q sleeps", k.text)
}

func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func (r *run) WaitEvent(key, event string, timeout time.Duration) ([]byte, error) {
	payload, err := r.waitEvent(key, event, timeout)
	return payload, r.tell(err, "")
}

func (r *run) waitEvent(text, event string, timeout time.Duration) ([]byte, *Error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	if event == "" {
		return nil, failed("bad_input", "event is empty")
	}
	if err := checkKey(text); err != nil {
		return nil, err
	}
	k, row, seq, err := r.ask(text, "wait")
	if err != nil {
		return nil, err
	}
	if row != nil {
		switch row.Status {
		case "waiting":
			return nil, r.end("suspended", "%q waits for the signal %q", row.Name, event)
		case "completed":
			return row.Output, nil
		}
		return nil, failed("timed_out", "no signal %q came in time for %q", event, row.Name)
	}
	if err := r.makeRoom(); err != nil {
		return nil, err
	}
	step := &CommitStep{Seq: seq, Key: k.text, Kind: "wait", Status: "waiting", Event: event}
	if timeout >= 0 {
		ms := milliseconds(timeout)
		step.TimeoutMS = &ms
	}
	for _, received := range r.events {
		if received.Event == event && !r.taken[received.ID] {
			r.taken[received.ID] = true
			step.Status, step.SignalID, step.Output = "completed", received.ID, received.Payload
			r.buffer.add(step)
			return received.Payload, nil
		}
	}
	r.buffer.add(step)
	return nil, r.end("suspended", "%q waits for the signal %q", k.text, event)
}

// ---- backoff

// delay is the pause before the next call, after n calls have failed.
func (o *StepOptions) delay(n int32) time.Duration {
	factor := 1.0
	switch o.Backoff {
	case "linear":
		factor = float64(n)
	case "exponential", "":
		factor = math.Pow(2, float64(n-1))
	case "quadratic":
		factor = float64(n) * float64(n)
	}
	d := min(float64(o.Base)*factor, float64(max(o.Max, o.Base)))
	d += d * o.Jitter * rand.Float64()
	return time.Duration(d)
}

func knownBackoff(kind string) bool {
	switch kind {
	case "", "fixed", "linear", "exponential", "quadratic":
		return true
	}
	return false
}
