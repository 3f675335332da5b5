package cairn

import (
	"context"
	"log/slog"
	"time"
)

// taskLogs adds a task's attributes to each record. They are made when something is logged, since
// most tasks log nothing.
type taskLogs struct {
	slog.Handler
	task *Task
}

func taskLogger(base *slog.Logger, task *Task) *slog.Logger {
	return slog.New(&taskLogs{base.Handler(), task})
}

func (h *taskLogs) attrs() []slog.Attr {
	t := h.task
	attrs := []slog.Attr{slog.String("task", t.ID), slog.String("type", t.Type), slog.Int("attempt", int(t.Attempt)),
		slog.Int("max_attempts", int(t.MaxAttempts)), slog.String("worker", t.Worker)}
	for name, value := range map[string]string{"key": t.Key, "instance": t.InstanceID, "step": t.Step} {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	return attrs
}

func (h *taskLogs) Handle(ctx context.Context, record slog.Record) error {
	record = record.Clone()
	record.AddAttrs(h.attrs()...)
	return h.Handler.Handle(ctx, record)
}

func (h *taskLogs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &taskLogs{h.Handler.WithAttrs(attrs), h.task}
}

// A group would swallow the task's attributes, so they are added before it.
func (h *taskLogs) WithGroup(name string) slog.Handler {
	return h.Handler.WithAttrs(h.attrs()).WithGroup(name)
}

// tellFailure logs a failed attempt: a warning, or an error if it is the end for good.
func (t *Task) tellFailure(r *result) {
	switch {
	case r.outcome == outcomeDead || (r.outcome == outcomeFail || r.outcome == outcomeRetry) && t.Attempt >= t.MaxAttempts:
		t.Logger.Error("the "+t.Kind+" failed for good", "error", r.err)
	case r.outcome == outcomeFail || r.outcome == outcomeRetry:
		t.Logger.Warn("the attempt failed", "error", r.err)
	}
}

// noticePause is how often the engine is asked for its notices.
const noticePause = time.Second

// watchNotices writes the engine's own notices into the log.
func (e *Engine) watchNotices() {
	e.tellNotices()
	e.spawn(func() {
		ticker := time.NewTicker(noticePause)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if e.enter() != nil {
					return
				}
				e.tellNotices()
				e.leave()
			case <-e.ctx.Done():
				return
			}
		}
	})
}

func (e *Engine) tellNotices() {
	for _, n := range e.link.notices() {
		attrs := []slog.Attr{slog.String("url", e.URL())}
		for name, value := range n.facts {
			attrs = append(attrs, slog.Any(name, value))
		}
		e.config.Logger.LogAttrs(context.Background(), n.level, n.text, attrs...)
	}
}

// A notice is something that the engine wants an operator to know.
type notice struct {
	level slog.Level
	text  string
	facts map[string]any
}
