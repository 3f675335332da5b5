package cairn

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The pauses between two looks at a job or instance that is awaited.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// A call that waits in the engine holds a thread, so only some do; the others look now and then.
const (
	maxWaits  = 64
	waitSlice = 10 * time.Second
)

// waitFor reads a row until it has ended.
func waitFor[T any](ctx context.Context, e *Engine, path string, hasEnded func(*T) bool) (*T, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var row T
		hasWaited, err := e.getWaiting(ctx, path, pause > firstPause, &row)
		if err != nil {
			return nil, err
		}
		if hasEnded(&row) {
			return &row, nil
		}
		if hasWaited {
			continue
		}
		if err := e.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// getWaiting reads a row; if it may wait, and there is room, the engine answers when the row has
// ended or after a while.
func (e *Engine) getWaiting(ctx context.Context, path string, mayWait bool, out any) (hasWaited bool, err error) {
	if !mayWait || e.noWait.Load() {
		return false, e.get(ctx, path, out)
	}
	select {
	case e.waits <- struct{}{}:
		defer func() { <-e.waits }()
	default:
		return false, e.get(ctx, path, out)
	}
	target := fmt.Sprintf("%s?wait_ms=%d", path, waitSlice.Milliseconds())
	err = e.do(ctx, request{method: "GET", target: target, isRead: true, repeat: true, wait: waitSlice}, out)
	if errors.Is(err, ErrBadInput) { // from before wait_ms
		e.noWait.Store(true)
		return false, e.get(ctx, path, out)
	}
	return true, err
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
