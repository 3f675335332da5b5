package cairn

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// DLQ lists the open records of the dead letter queue, newest first.
func (e *Engine) DLQ(ctx context.Context) func(yield func(*DLQRecord, error) bool) {
	return list[DLQRecord](ctx, e, "/v1/dlq", nil, 0)
}

// DLQRecord reads one record, open or not.
func (e *Engine) DLQRecord(ctx context.Context, id string) (*DLQRecord, error) {
	var record DLQRecord
	if err := e.get(ctx, "/v1/dlq/"+segment(id), &record); err != nil {
		return nil, err
	}
	return &record, nil
}

// Requeue executes the step or compensation of a record again, with new input unless it is nil.
func (e *Engine) Requeue(ctx context.Context, id string, input any) error {
	body := map[string]any{}
	if input != nil {
		text, err := e.encode(input)
		if err != nil {
			return err
		}
		body["input"] = text
	}
	return e.post(ctx, "/v1/dlq/"+segment(id)+"/requeue", body, false, nil)
}

// Follow yields the events of all jobs and instances as they happen, oldest first, until the
// context ends. cursor "" begins with the first event; the ID of an event, in decimal, begins
// behind it.
func (e *Engine) Follow(ctx context.Context, cursor string) func(yield func(*StreamEvent, error) bool) {
	return func(yield func(*StreamEvent, error) bool) {
		for pause := firstPause; ; {
			var got page[StreamEvent]
			query := url.Values{"limit": {strconv.Itoa(10 * pageSize)}}
			setQuery(query, "cursor", cursor)
			if err := e.get(ctx, withQuery("/v1/events", query), &got); err != nil {
				yield(nil, err)
				return
			}
			for _, event := range got.Items {
				if !yield(event, nil) {
					return
				}
			}
			if got.Next != nil {
				cursor = *got.Next
			}
			if len(got.Items) > 0 {
				pause = firstPause
				continue
			}
			if err := e.sleep(ctx, pause); err != nil {
				yield(nil, err)
				return
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// Registry lists which runtime executes which type, by name.
func (e *Engine) Registry(ctx context.Context) func(yield func(*RegistryEntry, error) bool) {
	return list[RegistryEntry](ctx, e, "/v1/registry", nil, 0)
}

// PutRegistry writes the entry of a type; WorkflowName, Runtime, IsEnabled and Description count.
func (e *Engine) PutRegistry(ctx context.Context, entry RegistryEntry) error {
	body := map[string]any{"runtime": entry.Runtime, "is_enabled": entry.IsEnabled}
	if entry.Description != "" {
		body["description"] = entry.Description
	}
	text, err := encodeJSON(body)
	if err != nil {
		return err
	}
	target := "/v1/registry/" + segment(entry.WorkflowName)
	return e.do(ctx, request{method: "PUT", target: target, body: text, repeat: true}, nil)
}

// ClaimOutbox claims events to deliver, in order within each instance. Acknowledge each with
// AckOutbox before the lease ends, or it comes again.
func (e *Engine) ClaimOutbox(ctx context.Context, worker string, max int, lease time.Duration) ([]*OutboxEvent, error) {
	var answer struct {
		Events []*OutboxEvent `json:"events"`
	}
	body := map[string]any{"worker": worker, "max": max, "lease_ms": lease.Milliseconds()}
	err := e.post(ctx, "/v1/outbox/claim", body, false, &answer)
	return answer.Events, err
}

// AckOutbox says that an event was delivered.
func (e *Engine) AckOutbox(ctx context.Context, id string) error {
	return e.post(ctx, "/v1/outbox/"+segment(id)+"/ack", nil, true, nil)
}

// Stats returns the figures of the engine.
func (e *Engine) Stats(ctx context.Context) (map[string]uint64, error) {
	stats := map[string]uint64{}
	err := e.get(ctx, "/v1/stats", &stats)
	return stats, err
}

// Doctor checks the store.
func (e *Engine) Doctor(ctx context.Context) ([]Finding, error) {
	var answer struct {
		Items []Finding `json:"items"`
	}
	err := e.do(ctx, request{method: "GET", target: "/v1/doctor", isRead: true, repeat: true, wait: time.Minute}, &answer)
	return answer.Items, err
}

// PutLimit makes a limit, or replaces the one of this name; what is leased already counts, and stays.
func (e *Engine) PutLimit(ctx context.Context, limit Limit) error {
	body := map[string]any{"types": limit.Types, "concurrency": limit.Concurrency, "per_group": limit.PerGroup}
	if limit.Rate != nil {
		body["rate"] = limit.Rate
	}
	text, err := encodeJSON(body)
	if err != nil {
		return err
	}
	target := "/v1/limits/" + segment(limit.Name)
	return e.do(ctx, request{method: "PUT", target: target, body: text, repeat: true}, nil)
}

// Limits lists all limits by name.
func (e *Engine) Limits(ctx context.Context) func(yield func(*Limit, error) bool) {
	return list[Limit](ctx, e, "/v1/limits", nil, 0)
}

// DeleteLimit removes a limit.
func (e *Engine) DeleteLimit(ctx context.Context, name string) error {
	return e.do(ctx, request{method: "DELETE", target: "/v1/limits/" + segment(name)}, nil)
}

// PutSchedule makes a schedule, or changes the one of this name; its times go on unless Cron, Every or
// Timezone change.
func (e *Engine) PutSchedule(ctx context.Context, schedule Schedule) error {
	body := map[string]any{"paused": schedule.Paused}
	for name, text := range map[string]string{
		"cron": schedule.Cron, "task": schedule.Task, "workflow": schedule.Workflow, "overlap": schedule.Overlap,
		"catch_up": schedule.CatchUp,
	} {
		if text != "" {
			body[name] = text
		}
	}
	if schedule.Cron != "" && schedule.Timezone != "" {
		body["timezone"] = schedule.Timezone
	}
	if schedule.Every != 0 {
		body["every_ms"] = schedule.Every.Milliseconds()
	}
	if schedule.Version != 0 {
		body["version"] = schedule.Version
	}
	if !isNull(schedule.Input) {
		body["input"] = schedule.Input
	}
	text, err := encodeJSON(body)
	if err != nil {
		return err
	}
	target := "/v1/schedules/" + segment(schedule.Name)
	return e.do(ctx, request{method: "PUT", target: target, body: text, repeat: true}, nil)
}

// Schedules lists all schedules by name, with their latest runs.
func (e *Engine) Schedules(ctx context.Context) func(yield func(*Schedule, error) bool) {
	return list[Schedule](ctx, e, "/v1/schedules", nil, 0)
}

// DeleteSchedule removes a schedule; what it has started goes on.
func (e *Engine) DeleteSchedule(ctx context.Context, name string) error {
	return e.do(ctx, request{method: "DELETE", target: "/v1/schedules/" + segment(name)}, nil)
}
