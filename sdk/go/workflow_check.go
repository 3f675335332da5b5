package cairn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a workflow may not have, as far as it can be told without libcairn: names that are empty, used twice, too long or
// reserved, numbers that are out of range, and lists that are empty. A server that deploys it finds the rest.

const maxNesting = 64

// elementKinds are the keys that name an element.
var elementKinds = []string{"step", "save_point", "condition", "fork", "parallel", "human", "wait", "sleep", "start", "map"}

// numberRange is what a member may be.
type numberRange struct{ least, most float64 }

var stepRanges = map[string]numberRange{"max_attempts": {1, math.MaxInt32}, "priority": {0, 100}}
var undoRanges = map[string]numberRange{"max_attempts": {0, math.MaxInt32}}
var mapRanges = map[string]numberRange{"max_parallel": {1, 1000}}
var startRanges = map[string]numberRange{"version": {1, math.MaxInt32}}

type workflowCheck struct {
	used  map[string]bool
	flaws []Flaw
}

// checkWorkflow returns the mistakes of a workflow file in JSON that need no library.
func checkWorkflow(text string) []Flaw {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return []Flaw{{Message: err.Error()}}
	}
	c := &workflowCheck{used: map[string]bool{}}
	name, _ := document["workflow"].(string)
	subject := fmt.Sprintf("workflow %q", name)
	c.ownName(subject, "workflow", name)
	c.ranges(subject, document, map[string]numberRange{"version": {1, math.MaxInt32}})
	c.list(subject, "steps", document["steps"], 0)
	return c.flaws
}

func (c *workflowCheck) flaw(format string, args ...any) {
	c.flaws = append(c.flaws, Flaw{Message: fmt.Sprintf(format, args...)})
}

// name checks a text that names something.
func (c *workflowCheck) name(subject, key, name string) {
	switch {
	case name == "":
		c.flaw("%s: %s is empty", subject, key)
	case len(name) > maxNameBytes:
		c.flaw("%s: %s is too long: %d bytes, %d are allowed", subject, key, len(name), maxNameBytes)
	}
}

// ownName checks the name of a workflow or of an element.
func (c *workflowCheck) ownName(subject, key, name string) {
	c.name(subject, key, name)
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		c.flaw("%s: the name contains a control character", subject)
	}
	if reservedName.MatchString(name) {
		c.flaw("%s: a name cannot end in \"~\" and a number, which tells the effects of a step apart", subject)
	}
}

func (c *workflowCheck) ranges(subject string, members map[string]any, ranges map[string]numberRange) {
	for key, allowed := range ranges {
		given, isThere := members[key].(json.Number)
		if !isThere {
			continue
		}
		n, err := strconv.ParseInt(given.String(), 10, 64)
		if err != nil || float64(n) < allowed.least || float64(n) > allowed.most {
			c.flaw("%s: %s must be a whole number from %.0f to %.0f", subject, key, allowed.least, allowed.most)
		}
	}
}

// list checks the elements of a list, which must not be empty.
func (c *workflowCheck) list(subject, key string, value any, nesting int) []map[string]any {
	items, _ := value.([]any)
	if len(items) == 0 {
		c.flaw("%s: %s is empty", subject, key)
	}
	if nesting > maxNesting {
		c.flaw("conditions, forks and parallels are nested more than %d deep", maxNesting)
		return nil
	}
	var elements []map[string]any
	for _, item := range items {
		if element, isObject := item.(map[string]any); isObject {
			elements = append(elements, element)
			c.element(element, nesting)
		}
	}
	return elements
}

// kindOf is the key that names an element, and its name.
func kindOf(element map[string]any) (kind, name string) {
	for _, kind := range elementKinds {
		if name, isNamed := element[kind].(string); isNamed {
			return kind, name
		}
	}
	return "", ""
}

func (c *workflowCheck) element(element map[string]any, nesting int) {
	kind, name := kindOf(element)
	subject := fmt.Sprintf("%s %q", kind, name)
	c.ownName(subject, kind, name)
	if strings.HasPrefix(name, "cond#") {
		c.flaw("%s: names that begin with cond# are reserved", subject)
	}
	c.use(subject, name)
	c.members(subject, kind, element)
	c.inside(subject, kind, name, element, nesting+1)
}

// use tells of a name that is used twice.
func (c *workflowCheck) use(subject, name string) {
	if name != "" && c.used[name] {
		c.flaw("%s: the name is already used", subject)
	}
	c.used[name] = true
}

// members checks the numbers and the names of other things in an element.
func (c *workflowCheck) members(subject, kind string, element map[string]any) {
	switch kind {
	case "step":
		c.ranges(subject, element, stepRanges)
	case "map":
		c.ranges(subject, element, mapRanges)
		if join, isObject := element["join"].(map[string]any); isObject {
			c.ranges(subject+": join", join, map[string]numberRange{"at_least": {1, math.MaxInt32}})
		}
	case "start":
		c.ranges(subject, element, startRanges)
	}
	for _, key := range []string{"handler", "event", "workflow"} {
		if other, isThere := element[key].(string); isThere && kind != "" {
			c.name(subject, key, other)
		}
	}
	c.once(subject, element)
	c.retry(subject, element)
	if undo, isObject := element["compensation"].(map[string]any); isObject {
		handler, _ := undo["handler"].(string)
		c.name(subject+": compensation", "handler", handler)
		c.ranges(subject+": compensation", undo, undoRanges)
		c.once(subject+": compensation", undo)
		c.retry(subject+": compensation", undo)
	}
}

// once: what may be called once only has one attempt.
func (c *workflowCheck) once(subject string, members map[string]any) {
	calls, _ := members["max_attempts"].(json.Number)
	n, err := calls.Int64()
	if members["idempotent"] == false && err == nil && n > 1 {
		c.flaw("%s: max_attempts must be 1, since idempotent: false allows one call", subject)
	}
}

func (c *workflowCheck) retry(subject string, members map[string]any) {
	retry, _ := members["retry"].(map[string]any)
	if jitter, isThere := retry["jitter"].(json.Number); isThere {
		if part, err := jitter.Float64(); err != nil || part < 0 || part > 1 {
			c.flaw("%s: jitter must be a number from 0 to 1", subject)
		}
	}
	if kind, isThere := retry["backoff"].(string); isThere {
		switch kind {
		case "fixed", "linear", "exponential", "quadratic":
		default:
			c.flaw("%s: backoff must be fixed, linear, exponential or quadratic", subject)
		}
	}
}

// inside checks the lists within an element.
func (c *workflowCheck) inside(subject, kind, name string, element map[string]any, nesting int) {
	switch kind {
	case "condition":
		then, _ := element["then"].([]any)
		other, _ := element["else"].([]any)
		if len(then)+len(other) == 0 {
			c.flaw("%s: neither then nor else has an element", subject)
		}
		for key, list := range map[string][]any{"then": then, "else": other} {
			if len(list) > 0 {
				c.list(subject, key, list, nesting)
			}
		}
	case "fork":
		branches, _ := element["branches"].([]any)
		if len(branches) == 0 {
			c.flaw("%s: branches is empty", subject)
		}
		for i, branch := range branches {
			c.list(subject, fmt.Sprintf("branch %d", i+1), branch, nesting)
		}
		if element["join"] != nil {
			c.join(subject, name)
		}
	case "parallel":
		for _, step := range c.list(subject, "steps", element["steps"], nesting) {
			if other, _ := kindOf(step); other != "step" {
				c.flaw("%s: only steps may stand in parallel, not a %s; use a fork", subject, other)
			}
		}
		c.join(subject, name)
	case "map":
		c.list(subject, "steps", element["steps"], nesting-1)
	}
}

func (c *workflowCheck) join(subject, name string) {
	if len(name)+len("_join") > maxNameBytes {
		c.flaw("%s: the name of its join, NAME_join, would be longer than %d bytes", subject, maxNameBytes)
	}
	c.use(subject, name+"_join")
}
