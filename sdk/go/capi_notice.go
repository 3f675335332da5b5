//go:build cgo && !cairn_http

package cairn

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// readNotices reads {"notices": [{"event", "level", "text", ...}]}.
func readNotices(text []byte) []notice {
	var answer struct {
		Notices []map[string]any `json:"notices"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return nil
	}
	all := make([]notice, 0, len(answer.Notices))
	for _, facts := range answer.Notices {
		n := notice{facts: facts, level: slog.LevelInfo}
		switch fmt.Sprint(facts["level"]) {
		case "2", "warning":
			n.level = slog.LevelWarn
		case "3", "error":
			n.level = slog.LevelError
		}
		n.text, _ = facts["text"].(string)
		delete(facts, "text")
		delete(facts, "level")
		all = append(all, n)
	}
	return all
}
