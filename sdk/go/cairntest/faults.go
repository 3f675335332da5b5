package cairntest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cairn.invalid/cairn"
	"cairn.invalid/cairn/internal/hook"
)

// Faults says how often the call of a handler goes wrong, from 0 to 1. A run of a function only
// crashes: before it begins, or before a step that it has executed is committed.
type Faults struct {
	Fail    float64            // it fails, half of the time after the handler has succeeded
	Crash   float64            // the worker is gone, half of the time after the handler has succeeded; the lease runs out
	Timeout float64            // it does not end before its step's timeout; without one it fails
	Late    float64            // its outcome arrives after the lease has run out, and is refused
	Twice   float64            // its outcome arrives twice
	Restart float64            // the engine is closed and opened again before its outcome arrives
	FailOf  map[string]float64 // by step, in place of Fail; "STEP:undo" is a compensation, "name%" all that begin so
}

// DefaultFaults are those of cairn simulate, and a few outcomes that arrive late or twice.
func DefaultFaults() Faults {
	return Faults{Fail: 0.1, Crash: 0.02, Timeout: 0.02, Late: 0.02, Twice: 0.02}
}

func (f Faults) trial() *hook.Trial {
	var rates []string
	for step, rate := range f.FailOf {
		rates = append(rates, step+"="+strconv.FormatFloat(rate, 'g', -1, 64))
	}
	return &hook.Trial{Fail: f.Fail, Crash: f.Crash, Timeout: f.Timeout, Late: f.Late, Twice: f.Twice,
		Restart: f.Restart, FailOf: strings.Join(rates, ",")}
}

// Exploration says what Explore tries.
type Exploration struct {
	Seeds  int     // from 1 to this one; 0: 100
	Faults *Faults // nil: DefaultFaults
	URL    string  // "": memory:
}

// Explore runs a scenario with faults, once for each seed, each time as a test and in an
// environment of its own. The scenario makes its app and whatever its handlers change, starts and
// runs instances, and checks what must be true however badly things went. At its end every
// instance must have ended, and the laws of Expect that always count must hold. The first seed
// that fails ends the test, and tells its story; go test -run 'TestName/seed=17$' repeats it.
func Explore(t *testing.T, config Exploration, scenario func(t *testing.T, env *Env)) {
	t.Helper()
	if config.Seeds == 0 {
		config.Seeds = 100
	}
	if config.URL == "" {
		config.URL = "memory:"
	}
	faults := DefaultFaults()
	if config.Faults != nil {
		faults = *config.Faults
	}
	for seed := 1; seed <= config.Seeds; seed++ {
		isFine := t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			env := openWith(t, cairn.Config{URL: config.URL}, uint64(seed), faults.trial())
			t.Cleanup(func() { env.tell(t) })
			scenario(t, env)
			env.expectAll()
		})
		if !isFine {
			return
		}
	}
}

// tell logs the story of a test that has failed.
func (v *Env) tell(t *testing.T) {
	if !t.Failed() {
		return
	}
	answer, err := hook.Verdict(v.Engine, "", nil)
	var verdict Verdict
	if err == nil {
		err = json.Unmarshal(answer, &verdict)
	}
	if err != nil {
		t.Logf("cairntest: %v", err)
		return
	}
	t.Logf("%s\nrepeat it with go test -run '%s$'", strings.Join(verdict.Story, "\n"), t.Name())
}

func (v *Env) expectAll() {
	v.t.Helper()
	var roots []string
	v.Engine.Instances(context.Background(), cairn.InstanceFilter{})(func(i *cairn.Instance, err error) bool {
		if err != nil {
			v.t.Fatalf("cairntest: %v", err)
		}
		if i.Parent == "" {
			roots = append(roots, i.ID)
		}
		return true
	})
	for _, id := range roots {
		v.Expect(id)
	}
}

// Verdict says how an instance went, with its children. A name is WORKFLOW.STEP if several
// workflows have the step.
type Verdict struct {
	Seed                 uint64
	Workflow, Status     string
	Called, Done, Undone []string // Done: completed, and not undone since
	Broken               []string // laws
	Story                []string
}

// Expect fails the test unless these laws hold for an instance and its children. A law is one of
// cairn simulate --expect, such as "done(charge) => done(ship) or undone(charge)". Three always
// count: it has ended; what was done is undone if it was rolled back (unless it has save points),
// and only then; nothing is undone twice. It needs the environment of Explore.
func (v *Env) Expect(instanceID string, laws ...string) *Verdict {
	v.t.Helper()
	answer, err := hook.Verdict(v.Engine, instanceID, laws)
	var verdict Verdict
	if err == nil {
		err = json.Unmarshal(answer, &verdict)
	}
	if err != nil {
		v.t.Fatalf("cairntest: %v", err)
	}
	if len(verdict.Broken) > 0 {
		v.t.Fatalf("cairntest: broken: %s\n%s ended as %s; done: %s; undone: %s", strings.Join(verdict.Broken, "\nbroken: "),
			verdict.Workflow, verdict.Status, strings.Join(verdict.Done, ", "), strings.Join(verdict.Undone, ", "))
	}
	return &verdict
}
