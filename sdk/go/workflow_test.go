package cairn_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

func number[T any](n T) *T { return &n }

func TestTheTextOfAWorkflow(t *testing.T) {
	wf := cairn.NewWorkflow("order", 2).DLQ().
		Input(map[string]any{"type": "object", "required": []string{"n"}}, map[string]any{"n": 1}).
		Step("a", &cairn.StepSpec{Handler: "a", MaxAttempts: 3, Priority: number[int32](50)}). // all defaults
		Step("b", &cairn.StepSpec{Handler: "b.v1", MaxAttempts: 5, Timeout: 90 * time.Second, Once: false, Priority: number[int32](0),
			Retry: &cairn.Backoff{Kind: "linear", Base: 250 * time.Millisecond, Max: time.Minute, Jitter: 0.5}, OnFailure: "continue",
			Compensation: &cairn.Compensation{Handler: "undo.v1", MaxAttempts: number[int32](0), Once: true, Timeout: 48 * time.Hour},
			Metadata:     map[string]any{"team": "x"}}).
		Parallel("p", "m", "n").
		Start("s", "billing", &cairn.ChildSpec{Version: 2, Input: map[string]any{"n": 1}, Key: "k", Tags: map[string]string{"a": "b"},
			NoWait: true, OnFailure: "continue", Compensation: &cairn.Compensation{Handler: "undo.v1"}}).
		Start("t", "mail", nil).
		Map("each", "{{ .to }}", func(w *cairn.Workflow) { w.Step("one", nil) }, &cairn.MapSpec{MaxParallel: 5, AtLeast: 2, CountOnly: true, Input: map[string]any{"to": "{{ .all }}"}}).
		Fork("f", "", func(w *cairn.Workflow) { w.Step("g", nil) }, func(w *cairn.Workflow) { w.Step("h", nil) })
	text, err := wf.Text()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"workflow":"order","version":2,"dlq":true,"input":{"schema":{"required":["n"],"type":"object"},"example":{"n":1}},"steps":[{"step":"a"},` +
		`{"step":"b","handler":"b.v1","max_attempts":5,"retry":{"backoff":"linear","base":"250ms","max":"1m","jitter":0.5},"timeout":"90s",` +
		`"priority":0,"on_failure":"continue","compensation":{"handler":"undo.v1","max_attempts":0,"timeout":"2d","idempotent":false},"metadata":{"team":"x"}},` +
		`{"parallel":"p","steps":[{"step":"m"},{"step":"n"}]},` +
		`{"start":"s","workflow":"billing","version":2,"input":{"n":1},"key":"k","tags":{"a":"b"},"wait":false,"on_failure":"continue",` +
		`"compensation":{"handler":"undo.v1"}},{"start":"t","workflow":"mail"},` +
		`{"map":"each","over":"{{ .to }}","steps":[{"step":"one"}],"max_parallel":5,"join":{"at_least":2},"collect":false,"input":{"to":"{{ .all }}"}},` +
		`{"fork":"f","branches":[[{"step":"g"}],[{"step":"h"}]]}]}`
	equal(t, "text", text, want)
}

func TestParallelFunc(t *testing.T) {
	text, err := cairn.NewWorkflow("order", 1).ParallelFunc("p", func(w *cairn.Workflow) {
		w.Step("a", &cairn.StepSpec{Handler: "a.v1"}).Step("b", nil)
	}).Text()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "text", text, `{"workflow":"order","version":1,"steps":[{"parallel":"p","steps":[{"step":"a","handler":"a.v1"},{"step":"b"}]}]}`)
}

func TestMistakesOfNamesAndLists(t *testing.T) {
	long := strings.Repeat("n", 257)
	for what, wf := range map[string]*cairn.Workflow{
		"only steps":       cairn.NewWorkflow("w", 1).ParallelFunc("p", func(w *cairn.Workflow) { w.Sleep("s", time.Second) }),
		"steps is empty":   cairn.NewWorkflow("w", 1).ParallelFunc("p", func(*cairn.Workflow) {}),
		"is empty":         cairn.NewWorkflow("w", 1),
		"already used":     cairn.NewWorkflow("w", 1).Step("a", nil).Step("a", nil),
		"cond#":            cairn.NewWorkflow("w", 1).Step("cond#a", nil),
		"tells the effect": cairn.NewWorkflow("w", 1).Step("a~2", nil),
		"too long":         cairn.NewWorkflow("w", 1).Step(long, nil),
		"max_attempts":     cairn.NewWorkflow("w", 1).Step("a", &cairn.StepSpec{MaxAttempts: -1}),
		"priority":         cairn.NewWorkflow("w", 1).Step("a", &cairn.StepSpec{Priority: number[int32](101)}),
		"version":          cairn.NewWorkflow("w", 0).Step("a", nil),
		"neither then":     cairn.NewWorkflow("w", 1).Condition("c", "{{ true }}", nil, nil),
		"branches is":      cairn.NewWorkflow("w", 1).Fork("f", "all"),
	} {
		if _, err := wf.Text(); !errors.Is(err, cairn.ErrBadInput) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDataInTheTextOfAWorkflow(t *testing.T) {
	text, err := cairn.NewWorkflow("shop", 1).
		Step("charge", &cairn.StepSpec{Input: "{{ $.input.card }}", Output: map[string]any{"n": "{{ .n }}"}}).
		Human("ok", &cairn.WaitSpec{Input: []any{1, "{{ $.steps.charge.output.n }}"}}).
		Wait("paid", "paid", &cairn.WaitSpec{Input: 5}).Text()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "text", text, `{"workflow":"shop","version":1,"steps":[{"step":"charge","input":"{{ $.input.card }}","output":{"n":"{{ .n }}"}},`+
		`{"human":"ok","input":[1,"{{ $.steps.charge.output.n }}"]},{"wait":"paid","event":"paid","input":5}]}`)
	if cairn.LibraryVersion() == "" {
		return // without the library a server finds the mistakes
	}
	if _, err = cairn.NewWorkflow("shop", 1).Step("a", &cairn.StepSpec{Input: "{{ $.steps.b.output }}"}).Text(); !errors.Is(err, cairn.ErrBadInput) {
		t.Error(err)
	}
}

func TestMistakesAreToldTogether(t *testing.T) {
	_, err := cairn.NewWorkflow("order", 1).Step("a", &cairn.StepSpec{Timeout: -time.Second}).Sleep("b", time.Microsecond).Text()
	if !errors.Is(err, cairn.ErrBadInput) || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Error(err)
	}
}

func TestValidateAndDraw(t *testing.T) {
	if cairn.LibraryVersion() == "" {
		if _, err := cairn.NewWorkflow("order", 1).Step("a", nil).Draw("dot"); !errors.Is(err, cairn.ErrUnsupported) {
			t.Error(err)
		}
		equal(t, "flaws", len(cairn.Validate("f", "")), 1)
		return
	}
	equal(t, "flaws", len(cairn.Validate("f", `{"workflow": "w", "version": 1, "steps": [{"step": "a"}]}`)), 0)
	flaws := cairn.Validate("f", "workflow: w\nversion: 1\nsteps:\n  - stp: a\n  - step: b\n    timeout: never\n")
	if len(flaws) != 2 || flaws[0].Line != 4 || flaws[1].Line != 6 || flaws[0].Message == "" {
		t.Error(flaws)
	}
	for _, form := range []string{"terminal", "dot", "mermaid"} {
		drawn, err := cairn.NewWorkflow("order", 1).Step("reserve", nil).Draw(form)
		if err != nil || !strings.Contains(drawn, "reserve") {
			t.Error(form, drawn, err)
		}
	}
	if _, err := cairn.NewWorkflow("order", 1).Draw("dot"); !errors.Is(err, cairn.ErrBadInput) {
		t.Error(err)
	}
}
