package cairn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"
)

// leaveAfter is how long a handler may take to return once its context has ended.
const leaveAfter = time.Second

// A call is a task that is being executed. The worker's lock guards it.
type call struct {
	task   *leased
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   string // why its context has ended; "": it has not
	isLeft bool   // it did not return in time: its slot is free, its result unwanted
	timers []*time.Timer
}

// hand executes tasks of the queue until it is empty.
func (w *Worker) hand() {
	for {
		c := w.next()
		if c == nil {
			return
		}
		r := w.execute(c)
		w.lock.Lock()
		for _, timer := range c.timers {
			timer.Stop()
		}
		if c.isLeft { // another hand has taken its place
			w.lock.Unlock()
			return
		}
		delete(w.running, c)
		w.executed++
		if r != nil {
			w.finished = append(w.finished, r)
		}
		w.lock.Unlock()
		c.cancel(nil)
		w.wake()
	}
}

// next takes a task from the queue; nil: the hand has ended.
func (w *Worker) next() *call {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.queue) == 0 || w.isEnding {
		w.hands--
		return nil
	}
	task := w.queue[0]
	w.queue = w.queue[1:]
	c := &call{task: task}
	c.ctx, c.cancel = context.WithCancelCause(context.WithValue(w.values, taskKey{}, &task.task))
	w.running[c] = struct{}{}
	w.setDeadline(c)
	return c
}

// setDeadline ends the call's context when the engine ends the call. Time does not pass by itself
// with a virtual clock.
func (w *Worker) setDeadline(c *call) {
	if c.task.task.Deadline.IsZero() || w.engine.config.VirtualClock {
		return
	}
	left := time.Until(c.task.task.Deadline.Add(-w.offset))
	ctx, cancel := context.WithDeadlineCause(c.ctx, time.Now().Add(left), &StoppedError{"timeout"})
	c.ctx = ctx
	c.timers = append(c.timers, time.AfterFunc(left, func() {
		w.stopCall(c, "timeout")
		cancel()
	}))
}

func (w *Worker) logger(task *Task) *slog.Logger { return taskLogger(w.engine.config.Logger, task) }

// execute runs the handler of a task; nil: there is nothing to report.
func (w *Worker) execute(c *call) *result {
	task := &c.task.task
	task.Logger = w.logger(task)
	if task.Kind == "function" {
		return w.executeFunction(c)
	}
	handler := w.routes.find(task.Type)
	if handler == nil {
		return &result{task: c.task, outcome: outcomeRelease, delay: -1, isMissing: task.InstanceID != ""}
	}
	output, err := safely(handler, c.ctx, task)
	return w.resultOfCall(c, output, err)
}

func (w *Worker) resultOfCall(c *call, output []byte, err error) *result {
	w.lock.Lock()
	stop := c.stop
	w.lock.Unlock()
	var asked *outcomeError
	isAsked := errors.As(err, &asked)
	switch {
	case stop == "lease_lost":
		return nil
	case stop != "" && stop != "timeout" && err != nil && !isAsked:
		return releaseOf(c.task)
	}
	task := &c.task.task
	r := resultOf(c.task, output, err, task.takeEmitted())
	task.tellFailure(r)
	return r
}

// safely makes a panic of a handler an error.
func safely(handler Handler, ctx context.Context, task *Task) (output []byte, err error) {
	defer recoverPanic(task.Logger, &err)
	return handler(ctx, task)
}

func recoverPanic(logger *slog.Logger, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
		logger.Error("a handler panicked", "error", *err, "stack", string(debug.Stack()))
	}
}

// ---- stopping calls

// stopCall ends the context of a call. A handler that does not return within a second is left
// behind: its task is released and its slot is free again.
func (w *Worker) stopCall(c *call, reason string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, isRunning := w.running[c]; !isRunning || c.stop != "" {
		return
	}
	c.stop = reason
	c.cancel(&StoppedError{reason})
	c.timers = append(c.timers, time.AfterFunc(leaveAfter, func() { w.leaveBehind(c) }))
}

func (w *Worker) stopAll(reason string) {
	w.lock.Lock()
	calls := make([]*call, 0, len(w.running))
	for c := range w.running {
		calls = append(calls, c)
	}
	w.lock.Unlock()
	for _, c := range calls {
		w.stopCall(c, reason)
	}
}

func (w *Worker) leaveBehind(c *call) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, isRunning := w.running[c]; !isRunning {
		return
	}
	c.isLeft = true
	delete(w.running, c)
	w.executed++
	if c.stop != "lease_lost" {
		w.finished = append(w.finished, releaseOf(c.task))
	}
	w.logger(&c.task.task).Error("the handler did not return within a second of its stop and was left behind", "reason", c.stop)
	if len(w.queue) > 0 {
		w.engine.spawn(w.hand)
	} else {
		w.hands--
	}
	w.wake()
}

// ---- leases

// lookPause is the time between two looks at a task; a lease is extended at a third of it, so that
// one lost request does no harm.
func (w *Worker) lookPause() time.Duration {
	return max(min(w.config.Look, w.config.Lease/3), 5*time.Millisecond)
}

// keepLeases extends leases and learns which tasks are no longer wanted, until the context ends.
func (w *Worker) keepLeases(ctx context.Context) {
	for w.awaitLook(ctx) {
		calls, beats := w.dueBeats(time.Now())
		if len(beats) == 0 {
			continue
		}
		err := w.engine.heartbeat(context.Background(), w.config.Name, beats)
		w.hearBeats(calls, beats, err)
	}
}

// awaitLook waits until it is time to look at the tasks; without tasks, until there are some. It
// returns false when the context has ended.
func (w *Worker) awaitLook(ctx context.Context) bool {
	for !w.isHolding() {
		select {
		case <-ctx.Done():
			return false
		case <-w.held:
		}
	}
	timer := time.NewTimer(max(w.lookPause()/4, 5*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (w *Worker) isHolding() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	return len(w.running)+len(w.queue) > 0
}

// dueBeats are the looks that are due; calls has the call of each, nil for tasks of the queue.
func (w *Worker) dueBeats(now time.Time) (calls []*call, beats []*beat) {
	w.lock.Lock()
	defer w.lock.Unlock()
	look := func(c *call, task *leased) {
		if now.Before(task.lookAt) {
			return
		}
		task.lookAt = now.Add(w.lookPause())
		b := &beat{task: task}
		if now.Sub(task.extendedAt) >= w.config.Lease/3-w.lookPause()/4 {
			b.extend = w.config.Lease
		}
		calls, beats = append(calls, c), append(beats, b)
	}
	for c := range w.running {
		if c.stop == "" {
			look(c, c.task)
		}
	}
	for _, task := range w.queue {
		look(nil, task)
	}
	return calls, beats
}

func (w *Worker) hearBeats(calls []*call, beats []*beat, err error) {
	now := time.Now()
	for i, b := range beats {
		failure := asError(err)
		if failure == nil {
			failure = b.refused
		}
		stop := b.stop
		w.lock.Lock()
		isExpired := now.Sub(b.task.extendedAt) > w.config.Lease
		if failure == nil && stop == "" && b.extend > 0 {
			b.task.extendedAt = now
		}
		w.lock.Unlock()
		if failure != nil && (!failure.Retryable() || isExpired) {
			stop = "lease_lost"
		}
		switch {
		case stop == "" || stop == "paused": // what is paused may finish
		case calls[i] != nil:
			w.stopCall(calls[i], stop)
		default:
			w.dropQueued(b.task)
		}
	}
}

// asError is err as an Error; nil for nil.
func asError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return newError(ErrInternal, "%v", err)
}

// dropQueued forgets a task that was claimed ahead and is no longer wanted.
func (w *Worker) dropQueued(task *leased) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if i := slices.Index(w.queue, task); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
		w.finished = append(w.finished, releaseOf(task))
		w.wake()
	}
}
