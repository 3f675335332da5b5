// Package cairntest tests handlers, workflows and functions with the real engine: leases, retries
// and timers are as in production, the store is in memory, and time is skipped.
package cairntest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/internal/hook"
)

// longest is how much time Run skips at most.
const longest = 365 * 24 * time.Hour

// Env is an engine in memory with a virtual clock.
type Env struct {
	Engine *cairn.Engine

	t      testing.TB
	lock   sync.Mutex
	errors []error
}

// New opens an engine in memory whose clock stands at 2030-01-01 and whose seed is 1. It is closed
// at the end of the test, which fails if a goroutine of the engine is left, such as a handler that
// did not return.
func New(t testing.TB) *Env {
	t.Helper()
	return open(t, cairn.Config{URL: "memory:"})
}

func open(t testing.TB, config cairn.Config) *Env {
	t.Helper()
	return openWith(t, config, 1, nil)
}

func openWith(t testing.TB, config cairn.Config, seed uint64, trial *hook.Trial) *Env {
	t.Helper()
	config.VirtualClock, config.Seed = true, seed
	config.Start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	config.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	var engine *cairn.Engine
	var err error
	if trial == nil {
		engine, err = cairn.Open(context.Background(), config)
	} else {
		var opened any
		if opened, err = hook.OpenTrial(config, trial); err == nil {
			engine = opened.(*cairn.Engine)
		}
	}
	if err != nil {
		t.Fatalf("cairntest: %v", err)
	}
	v := &Env{Engine: engine, t: t}
	t.Cleanup(v.close)
	return v
}

func (v *Env) close() {
	if err := v.Engine.Close(); err != nil {
		v.t.Errorf("cairntest: %v", err)
	}
	// A goroutine that has sent its last word may take a moment to end.
	for i := 0; i < 100 && hook.Goroutines(v.Engine) > 0; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := hook.Goroutines(v.Engine); n > 0 {
		v.t.Errorf("cairntest: goroutines of the engine are left: %d; a handler has not returned", n)
	}
}

// record keeps the errors of handlers.
func (v *Env) record(next cairn.Handler) cairn.Handler {
	return func(ctx context.Context, task *cairn.Task) (json.RawMessage, error) {
		output, err := next(ctx, task)
		if err != nil {
			v.lock.Lock()
			v.errors = append(v.errors, err)
			v.lock.Unlock()
		}
		return output, err
	}
}

// Work executes tasks one at a time until nothing is left to do, and returns how many. Time stands still.
func (v *Env) Work(app *cairn.App) int {
	v.t.Helper()
	recorded := cairn.NewApp()
	recorded.Use(v.record)
	recorded.Include(app)
	n, err := v.Engine.Work(context.Background(), recorded, cairn.WorkerConfig{Name: "test", Runtime: "*", UntilIdle: true, Concurrency: 1})
	if err != nil {
		v.t.Fatalf("cairntest: %v", err)
	}
	return n
}

// Advance moves the clock and executes nothing; what falls due on the way becomes ready. It
// returns the new time.
func (v *Env) Advance(d time.Duration) time.Time {
	v.t.Helper()
	var answer struct {
		Now time.Time `json:"now"`
	}
	v.call("POST", "/v1/clock/advance", map[string]int64{"ms": d.Milliseconds()}, &answer)
	return answer.Now
}

// Now returns the time of the clock.
func (v *Env) Now() time.Time {
	v.t.Helper()
	now, err := v.Engine.Now(context.Background())
	if err != nil {
		v.t.Fatalf("cairntest: %v", err)
	}
	return now
}

// Errors returns the errors that handlers and functions have returned, in order.
func (v *Env) Errors() []error {
	v.lock.Lock()
	defer v.lock.Unlock()
	return append([]error(nil), v.errors...)
}

// Run works and skips time until every job and instance has ended. The test fails if nothing is
// due any more before that, or after a year of skipped time.
func (v *Env) Run(app *cairn.App, until ...interface {
	Done(context.Context) (bool, error)
}) {
	v.t.Helper()
	end := v.Now().Add(longest)
	for {
		v.Work(app)
		if v.allDone(until) {
			return
		}
		next := v.next()
		if next.IsZero() {
			v.t.Fatalf("cairntest: nothing is due any more, and not everything has ended%s", v.picture())
		}
		if next.After(end) {
			v.t.Fatalf("cairntest: not everything has ended within %s%s", longest, v.picture())
		}
		v.Advance(max(time.Millisecond, (next.Sub(v.Now()) + time.Millisecond - 1).Truncate(time.Millisecond)))
	}
}

func (v *Env) allDone(until []interface {
	Done(context.Context) (bool, error)
}) bool {
	v.t.Helper()
	for _, one := range until {
		isDone, err := one.Done(context.Background())
		if err != nil {
			v.t.Fatalf("cairntest: %v", err)
		}
		if !isDone {
			return false
		}
	}
	return true
}

// next is when the next thing becomes due; zero: nothing will.
func (v *Env) next() time.Time {
	v.t.Helper()
	var clock struct {
		Next time.Time `json:"next"`
	}
	v.call("GET", "/v1/clock", nil, &clock)
	return clock.Next
}

func (v *Env) call(method, target string, body, out any) {
	v.t.Helper()
	status, answer, err := v.Engine.Call(context.Background(), method, target, body)
	if err == nil && status >= 400 {
		err = errors.New(string(answer))
	}
	if err == nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		v.t.Fatalf("cairntest: %s %s: %v", method, target, err)
	}
}

// picture shows the instances that have not ended.
func (v *Env) picture() string {
	ctx := context.Background()
	var text strings.Builder
	v.Engine.Instances(ctx, cairn.InstanceFilter{})(func(i *cairn.Instance, err error) bool {
		if err != nil || i.Status == "completed" || i.Status == "failed" || i.Status == "cancelled" || i.Status == "aborted" {
			return err == nil
		}
		text.WriteString("\n  " + i.Workflow + " " + i.ID + " " + i.Status)
		cairn.InstanceOf[json.RawMessage](v.Engine, i.ID).Steps(ctx)(func(s *cairn.StepInfo, err error) bool {
			if err == nil {
				text.WriteString("\n    " + s.Name + " " + s.Status + " " + s.Error)
			}
			return err == nil
		})
		return true
	})
	return text.String()
}

// AssertEnqueued fails the test unless there are count jobs of the type, which may be a prefix
// ("billing.%"), and returns them, newest first.
func (v *Env) AssertEnqueued(taskType string, count int) []*cairn.Job {
	v.t.Helper()
	var jobs []*cairn.Job
	v.Engine.Jobs(context.Background(), cairn.JobFilter{Type: taskType})(func(job *cairn.Job, err error) bool {
		if err != nil {
			v.t.Fatalf("cairntest: %v", err)
		}
		jobs = append(jobs, job)
		return true
	})
	if len(jobs) != count {
		v.t.Errorf("cairntest: jobs of the type %s: %d, want %d", taskType, len(jobs), count)
	}
	return jobs
}
