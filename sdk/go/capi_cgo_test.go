//go:build cgo && !cairn_http

package cairn

import (
	"errors"
	"strings"
	"testing"
)

func TestALibraryWithShorterStructsIsRefused(t *testing.T) {
	if err := checkLibrary(); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]uintptr{"cairn_task": 1 << 20, "cairn_unheard_of": 1} {
		err := checkSizes("0.1.0", map[string]uintptr{name: size})
		if !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), name) {
			t.Error(name, err)
		}
	}
}
