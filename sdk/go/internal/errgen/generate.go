package main

import (
	"fmt"
	"go/format"
	"strings"
)

// spelling has the words that Go writes in capitals.
var spelling = map[string]string{"json": "JSON"}

// sentinelName is the Go name of a code: ErrNotADatabase for not_a_database.
func sentinelName(code string) string {
	name := "Err"
	for _, word := range strings.Split(code, "_") {
		if known, ok := spelling[word]; ok {
			name += known
		} else {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}

// Generate returns errors_gen.go for the text of spec/errors.txt.
func Generate(list string) ([]byte, error) {
	var sentinels, table strings.Builder
	for number, line := range strings.Split(list, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") || fields[0] == "ok" {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("line %d: want name, number, HTTP status and meaning", number+1)
		}
		code, status, meaning := fields[0], fields[2], strings.Join(fields[3:], " ")
		name := sentinelName(code)
		fmt.Fprintf(&sentinels, "// %s: %s.\n%s = sentinel(%q, %s, %q)\n", name, meaning, name, code, status, meaning)
		fmt.Fprintf(&table, "%q: %s.(*Error),\n", code, name)
	}
	code := fmt.Sprintf(`// Code generated from spec/errors.txt by internal/errgen; DO NOT EDIT.

package cairn

// Errors for errors.Is, one for each code of the engine.
var (
%s)

// codes has the sentinel of each code.
var codes = map[string]*Error{
%s}
`, sentinels.String(), table.String())
	return format.Source([]byte(code))
}
