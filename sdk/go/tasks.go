package cairn

import (
	"context"
	"time"
)

// heartbeat sends beats of one worker, in one request for each batch.
func (e *Engine) heartbeat(ctx context.Context, worker string, beats []*beat) error {
	for len(beats) > 0 {
		batch := beats[:min(len(beats), e.config.MaxBatch)]
		beats = beats[len(batch):]
		if err := e.heartbeatBatch(ctx, worker, batch); err != nil {
			return err
		}
	}
	return nil
}

type beatBody struct {
	ID       string `json:"id"`
	Token    string `json:"token"`
	ExtendMS int64  `json:"extend_ms"`
}

type beatAnswer struct {
	LeaseUntil time.Time `json:"lease_until"`
	Stop       string    `json:"stop"`
	Code       string    `json:"code"`
	Message    string    `json:"message"`
}

func (e *Engine) heartbeatBatch(ctx context.Context, worker string, beats []*beat) error {
	body := struct {
		Worker string     `json:"worker"`
		Tasks  []beatBody `json:"tasks"`
	}{Worker: worker}
	for _, b := range beats {
		body.Tasks = append(body.Tasks, beatBody{b.task.task.ID, b.task.token, toMS(b.extend)})
	}
	var answer struct {
		Tasks []beatAnswer `json:"tasks"`
	}
	err := e.post(ctx, "/v1/tasks/heartbeat", body, true, &answer)
	if isCode(err, ErrNotFound, ErrMethodNotAllowed) {
		return e.heartbeatEach(ctx, worker, beats)
	}
	for i := 0; err == nil && i < len(beats) && i < len(answer.Tasks); i++ {
		beats[i].hear(answer.Tasks[i])
	}
	return err
}

func (b *beat) hear(a beatAnswer) {
	b.leaseUntil, b.stop = a.LeaseUntil, a.Stop
	if a.Code != "" {
		b.refused = errorOfCode(a.Code, a.Message, "", "", 409)
	}
}

// heartbeatEach is for servers that take one beat at a time.
func (e *Engine) heartbeatEach(ctx context.Context, worker string, beats []*beat) error {
	for _, b := range beats {
		body := map[string]any{"worker": worker, "token": b.task.token, "extend_ms": toMS(b.extend)}
		var answer beatAnswer
		err := e.post(ctx, "/v1/tasks/"+segment(b.task.task.ID)+"/heartbeat", body, true, &answer)
		if b.refused = asError(err); err == nil {
			b.hear(answer)
		}
	}
	return nil
}

// isIdle asks whether nothing is left to do for a worker. A server that does not know the
// question leaves it to the claims.
func (e *Engine) isIdle(ctx context.Context, c *claim) (bool, error) {
	body := map[string]any{}
	if len(c.types) > 0 {
		body["types"] = c.types
	}
	if len(c.functions) > 0 {
		body["functions"] = c.functions
	}
	if c.runtime != "" {
		body["runtime"] = c.runtime
	}
	if len(body) == 0 {
		return true, nil
	}
	var answer struct {
		Idle bool `json:"idle"`
	}
	err := e.post(ctx, "/v1/tasks/idle", body, true, &answer)
	if isCode(err, ErrNotFound, ErrMethodNotAllowed) {
		return true, nil
	}
	return answer.Idle, err
}

// toMS rounds up, so that a short duration does not become none.
func toMS(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
