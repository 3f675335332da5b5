package cairn

import (
	"context"
	"time"
)

// reportBytes is how much one report carries beyond its first result.
const reportBytes = 256 << 10

func (r *result) size() int {
	n := len(r.output) + len(r.err)
	for _, e := range r.emitted {
		n += len(e.payload)
	}
	return n
}

// takeFinished takes as many results as fit into one report. One that was refused together with
// others goes by itself.
func (w *Worker) takeFinished() []*result {
	count, bytes := 0, 0
	for _, r := range w.finished {
		bytes += r.size()
		isFull := bytes > reportBytes || r.isAlone || count >= w.engine.config.MaxBatch
		if count > 0 && (isFull || w.finished[0].isAlone) {
			break
		}
		count++
	}
	taken := w.finished[:count:count]
	w.finished = w.finished[count:]
	return taken
}

// sendReport reports what has finished and claims as much as there is room for, in one commit.
func (w *Worker) sendReport() {
	if w.isReportOut || w.reportRest.isOn(w.now) {
		return
	}
	w.lock.Lock()
	results, slots := w.takeFinished(), w.freeSlots()
	if w.isEnding || len(results) > 0 && results[0].isAlone {
		slots = 0
	}
	w.lock.Unlock()
	if len(results) == 0 {
		return
	}
	var c *claim
	if slots > 0 {
		with := w.claim
		with.max = slots
		c = &with
	}
	w.isReportOut, w.promised = true, w.promised+slots
	w.request(func() func() {
		tasks, err := w.engine.link.report(context.Background(), w.config.Name, results, c)
		return func() { w.reportAnswered(results, tasks, err, slots) }
	})
}

func (w *Worker) reportAnswered(results []*result, tasks []*leased, err error, slots int) {
	w.isReportOut = false
	w.promised -= slots
	if err != nil {
		w.reportFailed(results, err)
		return
	}
	w.reportRest = rest{}
	w.isBack()
	if slots > 0 {
		w.isEmpty = len(tasks) == 0
	}
	w.take(tasks)
	hasEmitted := false
	for _, r := range results {
		hasEmitted = hasEmitted || len(r.emitted) > 0
		if r.refused != nil {
			w.resultRefused(r)
		}
	}
	if hasEmitted {
		select {
		case w.outboxTold <- struct{}{}:
		default:
		}
	}
}

// reportFailed keeps the results of a report that was not taken at all, as long as their leases last.
func (w *Worker) reportFailed(results []*result, err error) {
	switch {
	case isCode(err, ErrUnauthorized, ErrForbidden, ErrClosed):
		w.end(err) // nothing that is sent will be accepted
		return
	case isRetryable(err):
		w.reportRest.begin()
		w.goneAway(err)
	case isCode(err, ErrWrongRuntime, ErrSchemaNewer):
		w.end(err) // the claim was refused; the results go without it
	default:
		if len(results) == 1 {
			results[0].refused = asError(err)
			w.resultRefused(results[0])
			return
		}
		for _, r := range results {
			r.isAlone = true
		}
	}
	kept := results[:0:0]
	for _, r := range results {
		if time.Since(r.task.extendedAt) < w.config.Lease+longestRest {
			kept = append(kept, r)
		}
	}
	w.lock.Lock()
	w.finished = append(kept, w.finished...)
	w.lock.Unlock()
}

// resultRefused: a result that cannot be stored becomes a failed attempt that says so; a late one
// is dropped, since the task is no longer this worker's.
func (w *Worker) resultRefused(r *result) {
	task, why := &r.task.task, r.refused
	isBad := isCode(why, ErrBadInput, ErrBadJSON, ErrTooLarge)
	if isBad && r.outcome != outcomeFail {
		w.logger(task).Warn("the result cannot be stored; the attempt has failed", "error", oneLine(why))
		failed := &result{task: r.task, outcome: outcomeFail, err: "BadPayload: " + why.Message, delay: -1, isAlone: true}
		w.lock.Lock()
		w.finished = append(w.finished, failed)
		w.lock.Unlock()
		return
	}
	w.logger(task).Warn("the result was not accepted", "outcome", outcomeWords[r.outcome], "error", oneLine(why))
}

// ---- the outbox

// deliverOutbox delivers events that handlers have emitted, until the context ends.
func (w *Worker) deliverOutbox(ctx context.Context) {
	ticker := time.NewTicker(w.config.Look)
	defer ticker.Stop()
	for {
		w.drainOutbox()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.outboxTold:
		}
	}
}

// drainOutbox delivers until nothing can be claimed; it reports whether anything was delivered.
func (w *Worker) drainOutbox() bool {
	if len(w.routes.outbox) == 0 {
		return false
	}
	w.outboxLock.Lock()
	defer w.outboxLock.Unlock()
	hasDelivered := false
	for {
		events, err := w.engine.ClaimOutbox(context.Background(), w.config.Name, 100, w.config.Lease)
		if err != nil {
			if !isRetryable(err) {
				w.engine.config.Logger.Error("events cannot be claimed from the outbox", "worker", w.config.Name, "error", oneLine(err))
			}
			return hasDelivered
		}
		delivered := w.deliver(events)
		hasDelivered = hasDelivered || delivered > 0
		if len(events) == 0 || delivered == 0 {
			return hasDelivered
		}
	}
}

// deliver delivers events in order; after a failure, later events of that instance wait for it.
func (w *Worker) deliver(events []*OutboxEvent) int {
	held, delivered := map[string]bool{}, 0
	for _, event := range events {
		if held[event.InstanceID] {
			continue
		}
		err := w.deliverOne(event)
		if err == nil {
			err = w.engine.AckOutbox(context.Background(), event.ID)
		}
		if err != nil {
			held[event.InstanceID] = true
			w.engine.config.Logger.Warn("an event was not delivered; it comes again", "worker", w.config.Name,
				"event", event.Event, "instance", event.InstanceID, "error", oneLine(err))
			continue
		}
		delivered++
	}
	return delivered
}

func (w *Worker) deliverOne(event *OutboxEvent) (err error) {
	defer recoverPanic(w.engine.config.Logger, &err)
	return w.routes.outbox[0](w.values, event)
}
