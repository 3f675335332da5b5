package cairn

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// StepSpec describes a step of a workflow; what is zero has the engine's default.
type StepSpec struct {
	Handler      string // the type of its task; "": the step's name
	MaxAttempts  int32  // calls in all; 0: 3
	Retry        *Backoff
	Timeout      time.Duration
	Once         bool   // not idempotent: called once only
	Priority     *int32 // 0 to 100, higher goes first; nil: 50
	OnFailure    string // fail_workflow, pause_workflow, continue, compensate
	Compensation *Compensation
	Metadata     map[string]any
	Input        any    // makes what the handler is given: JSON whose strings may hold expressions; nil: what arrives
	Output       any    // makes what goes on from the handler's answer; nil: the answer
	Group        string // may hold expressions, such as "{{ .tenant }}"; "": the instance's
}

// ChildSpec describes an element that starts other instances; what is zero has the engine's default.
type ChildSpec struct {
	Version      int32             // 0: the highest
	Input        any               // nil: the data that arrives
	Key          string            // "": none
	Tags         map[string]string // that it is found by
	NoWait       bool              // the step completes at once, with {"id": ...}
	OnFailure    string            // as in StepSpec
	Compensation *Compensation     // nil: the child is rolled back
	Metadata     map[string]any
	Group        string // of the child, as in StepSpec
}

// WaitSpec says how long an element waits, and what happens then.
type WaitSpec struct {
	Timeout              time.Duration // 0: without end
	OnTimeout, OnFailure string        // "" or "fail", "continue"; as in StepSpec
	Input                any           // as in StepSpec
}

// Flaw is a mistake in a workflow file.
type Flaw struct {
	Line, Column int // from 1; 0: the file as a whole
	Message      string
}

// Workflow is a workflow that is put together in code. Elements are added in order.
type Workflow struct {
	name     string
	version  int32
	dlq      bool
	input    object
	elements []object
	flaws    *[]error // shared by nested lists
}

// NewWorkflow begins a workflow.
func NewWorkflow(name string, version int32) *Workflow {
	return &Workflow{name: name, version: version, flaws: new([]error)}
}

// object is a JSON object whose keys keep their order.
type object []field

type field struct {
	key   string
	value any
}

// MarshalJSON writes the object; fields whose value is nil are left out.
func (o object) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	buffer.WriteByte('{')
	for _, f := range o {
		if f.value == nil {
			continue
		}
		value, err := encodeJSON(f.value)
		if err != nil {
			return nil, err
		}
		if buffer.Len() > 1 {
			buffer.WriteByte(',')
		}
		buffer.WriteString(strconv.Quote(f.key) + ":")
		buffer.Write(value)
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

// text is nil for "", so that the field is left out.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (w *Workflow) flaw(format string, args ...any) {
	*w.flaws = append(*w.flaws, newError(ErrBadInput, format, args...))
}

// duration is a duration as workflow files write it; nil for 0.
func (w *Workflow) duration(name string, d time.Duration) any {
	if d == 0 {
		return nil
	}
	if d < 0 || d%time.Millisecond != 0 {
		w.flaw("element %q: a duration must be positive and a whole number of milliseconds, not %s", name, d)
	}
	for _, unit := range []struct {
		length time.Duration
		word   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.word
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

func (w *Workflow) retry(name string, b *Backoff) any {
	if b == nil {
		return nil
	}
	o := object{{"backoff", text(b.Kind)}, {"base", w.duration(name, b.Base)}, {"max", w.duration(name, b.Max)}}
	if b.Jitter != 0 {
		o = append(o, field{"jitter", b.Jitter})
	}
	return o
}

func (w *Workflow) compensation(name string, c *Compensation) any {
	if c == nil {
		return nil
	}
	o := object{{"handler", c.Handler}}
	if c.MaxAttempts != nil && *c.MaxAttempts != 3 {
		o = append(o, field{"max_attempts", *c.MaxAttempts})
	}
	o = append(o, field{"retry", w.retry(name, c.Retry)}, field{"timeout", w.duration(name, c.Timeout)})
	if c.Once {
		o = append(o, field{"idempotent", false})
	}
	return append(o, metadataFields(c.Metadata)...)
}

func metadataFields(metadata map[string]any) object {
	if len(metadata) == 0 {
		return nil
	}
	return object{{"metadata", metadata}}
}

func (w *Workflow) add(element object) *Workflow {
	w.elements = append(w.elements, element)
	return w
}

// DLQ makes a step that has failed for good park in the dead letter queue.
func (w *Workflow) DLQ() *Workflow {
	w.dlq = true
	return w
}

// Input says what instances are started with, for the page's form and for people: a JSON Schema and an example; nil: none.
func (w *Workflow) Input(schema map[string]any, example any) *Workflow {
	w.input = nil
	if schema != nil {
		w.input = object{{"schema", schema}}
	}
	if example != nil {
		w.input = append(w.input, field{"example", example})
	}
	return w
}

// Step adds a step; spec nil: all defaults, and the handler is the name.
func (w *Workflow) Step(name string, spec *StepSpec) *Workflow {
	o := object{{"step", name}}
	if spec == nil {
		return w.add(o)
	}
	if spec.Handler != name {
		o = append(o, field{"handler", text(spec.Handler)})
	}
	if spec.MaxAttempts != 0 && spec.MaxAttempts != 3 {
		o = append(o, field{"max_attempts", spec.MaxAttempts})
	}
	o = append(o, field{"retry", w.retry(name, spec.Retry)}, field{"timeout", w.duration(name, spec.Timeout)})
	if spec.Once {
		o = append(o, field{"idempotent", false})
	}
	if spec.Priority != nil && *spec.Priority != 50 {
		o = append(o, field{"priority", *spec.Priority})
	}
	o = append(o, field{"on_failure", text(spec.OnFailure)}, field{"compensation", w.compensation(name, spec.Compensation)},
		field{"input", spec.Input}, field{"output", spec.Output}, field{"group", text(spec.Group)})
	return w.add(append(o, metadataFields(spec.Metadata)...))
}

// Start adds an element that starts an instance of another workflow and waits for its end; spec nil: all defaults.
func (w *Workflow) Start(name, workflow string, spec *ChildSpec) *Workflow {
	o := object{{"start", name}, {"workflow", workflow}}
	if spec == nil {
		return w.add(o)
	}
	if spec.Version != 0 {
		o = append(o, field{"version", spec.Version})
	}
	o = append(o, field{"input", spec.Input}, field{"key", text(spec.Key)})
	if len(spec.Tags) > 0 {
		o = append(o, field{"tags", spec.Tags})
	}
	if spec.NoWait {
		o = append(o, field{"wait", false})
	}
	o = append(o, field{"on_failure", text(spec.OnFailure)}, field{"compensation", w.compensation(name, spec.Compensation)},
		field{"group", text(spec.Group)})
	return w.add(append(o, metadataFields(spec.Metadata)...))
}

// MapSpec says how a list is run over; what is zero has the engine's default.
type MapSpec struct {
	MaxParallel  int32         // elements at one time; 0: 20
	Join         string        // "" or "all", "any"
	AtLeast      int32         // so many must complete, in place of Join; 0: as Join says
	CountOnly    bool          // the output is {"count", "completed", "failed"}
	OnFailure    string        // as in StepSpec
	Compensation *Compensation // nil: every element is rolled back
	Metadata     map[string]any
	Group        string // of each element, as in StepSpec
	Input        any    // makes what over is given, as in StepSpec
}

// Map adds elements that are done for each element of the list that over yields, such as "{{ .recipients }}"; spec nil: all defaults.
func (w *Workflow) Map(name, over string, each func(*Workflow), spec *MapSpec) *Workflow {
	o := object{{"map", name}, {"over", over}, {"steps", w.nested(each)}}
	if spec == nil {
		return w.add(o)
	}
	if spec.MaxParallel != 0 && spec.MaxParallel != 20 {
		o = append(o, field{"max_parallel", spec.MaxParallel})
	}
	if spec.AtLeast != 0 {
		o = append(o, field{"join", object{{"at_least", spec.AtLeast}}})
	} else if spec.Join != "all" {
		o = append(o, field{"join", text(spec.Join)})
	}
	if spec.CountOnly {
		o = append(o, field{"collect", false})
	}
	o = append(o, field{"on_failure", text(spec.OnFailure)}, field{"compensation", w.compensation(name, spec.Compensation)},
		field{"input", spec.Input}, field{"group", text(spec.Group)})
	return w.add(append(o, metadataFields(spec.Metadata)...))
}

// SavePoint adds a place at which a rollback stops.
func (w *Workflow) SavePoint(name string) *Workflow { return w.add(object{{"save_point", name}}) }

// nested builds a list of elements within an element.
func (w *Workflow) nested(build func(*Workflow)) []object {
	inner := &Workflow{flaws: w.flaws}
	build(inner)
	return inner.elements
}

// Condition adds a condition; then and otherwise build the two lists, nil: nothing.
func (w *Workflow) Condition(name, when string, then, otherwise func(*Workflow)) *Workflow {
	o := object{{"condition", name}, {"when", when}}
	if then != nil {
		o = append(o, field{"then", w.nested(then)})
	}
	if otherwise != nil {
		o = append(o, field{"else", w.nested(otherwise)})
	}
	return w.add(o)
}

// Fork adds branches that run in parallel. join is "all", "any" or "", which is no join.
func (w *Workflow) Fork(name, join string, branches ...func(*Workflow)) *Workflow {
	lists := make([][]object, 0, len(branches))
	for _, build := range branches {
		lists = append(lists, w.nested(build))
	}
	return w.add(object{{"fork", name}, {"join", text(join)}, {"branches", lists}})
}

// Parallel adds single steps that run in parallel; their handlers are their names.
func (w *Workflow) Parallel(name string, steps ...string) *Workflow {
	list := make([]object, 0, len(steps))
	for _, step := range steps {
		list = append(list, object{{"step", step}})
	}
	return w.add(object{{"parallel", name}, {"steps", list}})
}

// ParallelFunc adds the steps that build adds; they run in parallel, and the workflow goes on when all have ended. Anything
// but a step in it is a mistake, which Text tells.
func (w *Workflow) ParallelFunc(name string, build func(*Workflow)) *Workflow {
	steps := w.nested(build)
	if steps == nil {
		steps = []object{}
	}
	return w.add(object{{"parallel", name}, {"steps", steps}})
}

func (w *Workflow) waitFields(name string, wait *WaitSpec) object {
	if wait == nil {
		return nil
	}
	o := object{{"timeout", w.duration(name, wait.Timeout)}}
	if wait.OnTimeout != "fail" {
		o = append(o, field{"on_timeout", text(wait.OnTimeout)})
	}
	return append(o, field{"on_failure", text(wait.OnFailure)}, field{"input", wait.Input})
}

// Human adds an element that waits for a person's decision.
func (w *Workflow) Human(name string, wait *WaitSpec) *Workflow {
	return w.add(append(object{{"human", name}}, w.waitFields(name, wait)...))
}

// Wait adds an element that waits for a signal.
func (w *Workflow) Wait(name, event string, wait *WaitSpec) *Workflow {
	return w.add(append(object{{"wait", name}, {"event", event}}, w.waitFields(name, wait)...))
}

// Sleep adds an element that waits for some time.
func (w *Workflow) Sleep(name string, d time.Duration) *Workflow {
	length := w.duration(name, d)
	if length == nil {
		length = "0s"
	}
	return w.add(object{{"sleep", name}, {"for", length}})
}

// Text returns the workflow as a JSON workflow file. All mistakes are told here, joined.
func (w *Workflow) Text() (string, error) {
	o := object{{"workflow", w.name}, {"version", w.version}}
	if w.dlq {
		o = append(o, field{"dlq", true})
	}
	if w.input != nil {
		o = append(o, field{"input", w.input})
	}
	steps := w.elements
	if steps == nil {
		steps = []object{}
	}
	data, err := json.Marshal(append(o, field{"steps", steps}))
	if err != nil {
		return "", errors.Join(append(*w.flaws, badPayload(err))...)
	}
	flaws := *w.flaws
	for _, f := range checkText(w.name, string(data)) {
		flaws = append(flaws, newError(ErrBadInput, "%s", f.Message))
	}
	return string(data), errors.Join(flaws...)
}

// Draw draws the workflow as "terminal", "dot" or "mermaid".
func (w *Workflow) Draw(form string) (string, error) {
	text, err := w.Text()
	if err != nil {
		return "", err
	}
	return drawText(w.name, text, form)
}
