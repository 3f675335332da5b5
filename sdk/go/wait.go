package cairn

import (
	"context"
	"time"
)

// The pauses between two looks at a job or instance that is awaited.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// waitFor reads a row until it has ended.
func waitFor[T any](ctx context.Context, e *Engine, path string, hasEnded func(*T) bool) (*T, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var row T
		if err := e.get(ctx, path, &row); err != nil {
			return nil, err
		}
		if hasEnded(&row) {
			return &row, nil
		}
		if err := e.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// sleep ends early with an error if the context ends or the engine is closed.
func (e *Engine) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}
