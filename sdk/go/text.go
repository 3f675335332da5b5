package cairn

import (
	"encoding/json"
	"strings"
)

// withoutNUL is for texts that C ends at a NUL, and that are better changed than lost.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// signalOf reads {id, event, payload}; nil: there is none.
func signalOf(text json.RawMessage) *Signal {
	if isNull(text) {
		return nil
	}
	var signal Signal
	if json.Unmarshal(text, &signal) != nil {
		return nil
	}
	return &signal
}
