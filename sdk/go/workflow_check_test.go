//go:build cgo && !cairn_http

package cairn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutate calls try with the document after each change that breaks, or might break, a rule: every name, number and list
// of it in turn.
func mutate(value any, set func(any), try func(what string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if slices.Contains(skipped, key) {
				if _, isElement := inner.(string); key != "wait" || !isElement {
					continue // what without() has put there
				}
			}
			mutate(inner, func(other any) { v[key] = other }, try)
			v[key] = inner
		}
	case []any:
		for i, inner := range v {
			mutate(inner, func(other any) { v[i] = other }, try)
			v[i] = inner
		}
	}
	for _, other := range variants(value) {
		set(other)
		try(fmt.Sprintf("%v -> %v", value, other))
		set(value)
	}
}

// variants are other values of the same kind.
func variants(value any) []any {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "{{") {
			return nil
		}
		return []any{"", strings.Repeat("n", 252), strings.Repeat("n", 256), strings.Repeat("n", 257), "cond#" + v, v + "~2", v + "~", v + "\x01", v + "_join"}
	case float64:
		return []any{-1, 0, 1, 100, 101, 1000, 1001, 2147483647, 2147483648}
	case []any:
		return []any{[]any{}, append(append([]any{}, v...), v...)}
	}
	return nil
}

// skipped are members whose values are no names, numbers or lists of these rules.
var skipped = []string{"metadata", "input", "output", "tags", "when", "over", "timeout", "for", "key", "group", "retry", "on_failure",
	"on_timeout", "join", "schema", "collect", "wait"}

func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range skipped {
			if _, isText := v[key].(string); key == "wait" && isText {
				continue // the name of an element
			}
			delete(v, key)
		}
		if _, isFork := v["fork"]; isFork {
			v["join"] = "all"
		}
		if _, isCondition := v["condition"]; isCondition {
			v["when"] = "{{ true }}"
		}
		if _, isMap := v["map"]; isMap {
			v["over"] = "{{ .items }}"
		}
		if _, isSleep := v["sleep"]; isSleep {
			v["for"] = "1s"
		}
		for _, inner := range v {
			without(inner)
		}
	case []any:
		for _, inner := range v {
			without(inner)
		}
	}
	return value
}

// The law: of the corpus of definitions, and of each with one name, number or list changed, what is told without the library
// is what the library tells.
func TestMistakesAreToldWithoutTheLibraryAsWithIt(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, Config{URL: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	files, _ := filepath.Glob("../../tests/fuzz/corpus/workflow/*")
	deployed := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && len(Validate(file, string(text))) == 0 {
			if _, err := db.DeployFile(ctx, file); err == nil {
				deployed++
			}
		}
	}
	if deployed < 5 {
		t.Fatal("of the corpus only so many could be deployed:", deployed)
	}
	tries := 0
	db.Workflows(ctx)(func(d *Definition, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		if flaws := checkWorkflow(string(d.Definition)); !strings.Contains(string(d.Definition), `{"function"`) && len(flaws) > 0 {
			t.Error(d.Name, flaws)
		}
		var document any
		if err := json.Unmarshal(d.Definition, &document); err != nil || document.(map[string]any)["workflow"] == nil {
			return true
		}
		document = without(document)
		mutate(document, func(any) {}, func(what string) {
			text, _ := json.Marshal(document)
			own, library := checkWorkflow(string(text)), Validate("w", string(text))
			if tries++; (len(own) > 0) != (len(library) > 0) {
				t.Errorf("%s: %s: own: %v, the library: %v", d.Name, what, own, library)
			}
		})
		return true
	})
	if tries < 200 {
		t.Error("tries:", tries)
	}
}
